import { isCalendarDate } from './timestamp.ts';

/** The announced end of an operation or of a stable version. Days begin at 00:00 UTC. */
export interface End {
  /** First day of the deprecation, as `YYYY-MM-DD`, in the past or in the future. */
  readonly deprecated: string;
  /** Day from which requests may fail, not before `deprecated`; undefined while it is open. */
  readonly sunset?: string;
}

/** A published version of the API, stable from the start of its day in UTC. */
export interface Release {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  /** Ids of the operations that leave preview with this release. */
  readonly operations: readonly string[];
  /** Announces a next release that is not compatible. Its day is the sunset of the stable version of this release. */
  readonly end?: End;
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

/** `stable`, `preview`, or the date of an upcoming release. */
export type Version = string;

export const STABLE: Version = 'stable';
export const PREVIEW: Version = 'preview';

/**
 * Returns the version that a header value selects on a day, which for an invalid value is the stable version. The date of
 * an upcoming release selects it, and any other date the stable version, which has the operations of the latest release.
 * Before the first release, that one is the latest. Preview has no end: it may change on any day.
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
    end: isPreview ? undefined : releases.find((one) => one.date === date)?.end,
  };
}
