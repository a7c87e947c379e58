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

/**
 * Returns the version that a header value selects on a day, which for an invalid value is the stable version. The date of
 * an upcoming release selects it, and any other date the stable version, which has the operations of the latest release.
 * Before the first release, that one is the latest.
 */
export function selectVersion(header: string | undefined, releases: readonly Release[], today: string) {
  const latest = releases.findLast(({ date }) => date <= today)?.date ?? releases[0].date;
  const upcoming = releases.find(({ date }) => date === header && date > today)?.date;
  const date = upcoming ?? latest;
  const isPreview = header === PREVIEW;
  return {
    /** The version that the response names. */
    name: isPreview ? PREVIEW : (upcoming ?? STABLE),
    isValid: header === undefined || header === STABLE || isPreview || isCalendarDate(header),
    latest: date,
    /** Ids of its operations; undefined for all. */
    operations: isPreview
      ? undefined
      : new Set(releases.filter((one) => one.date <= date).flatMap((one) => one.operations)),
  };
}
