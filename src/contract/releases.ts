import { isCalendarDate } from './timestamp.ts';

/** A published version of the API, stable from the start of its day in UTC. */
export interface Release {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  /** Ids of the operations that leave preview with this release. */
  readonly operations: readonly string[];
}

/** Every release, earliest first. Operations without a release are reachable only in preview. */
export const RELEASES: readonly Release[] = [
  {
    date: '2026-10-01',
    operations: [
      'listEvents',
      'getEvent',
      'listEventSessions',
      'listTickets',
      'getTicket',
      'listOrders',
      'getOrder',
    ],
  },
];

export const VERSION_HEADER = 'Service-API-Version';
export const LATEST_VERSION_HEADER = 'Service-API-Latest-Version';

export const STABLE = 'stable';
export const PREVIEW = 'preview';

export type ApiVersion = ReturnType<typeof selectVersion>;

/**
 * Returns the version that a header value selects at a time, in milliseconds since the epoch. For an invalid value, it is
 * the stable version. The date of an upcoming release selects it, and any other date the stable version, which has the
 * operations of the latest release. Before the first release, that one is the latest.
 */
export function selectVersion(header: string | undefined, releases: readonly Release[], now: number) {
  const latest = releases.findLast(({ date }) => Date.parse(date) <= now)?.date ?? releases[0].date;
  const upcoming = releases.find(({ date }) => date === header && Date.parse(date) > now)?.date;
  const date = upcoming ?? latest;
  const isPreview = header === PREVIEW;
  return {
    /** The version that the response names. */
    name: isPreview ? PREVIEW : (upcoming ?? STABLE),
    isValid: header === undefined || header === STABLE || isPreview || isCalendarDate(header),
    latest: date,
    /** Returns whether it has the operation with an id. */
    has: (id: string) => isPreview || releases.some((one) => one.date <= date && one.operations.includes(id)),
  };
}
