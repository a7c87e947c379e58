import { isCalendarDate } from './timestamp.ts';

/** A published version of the API: from the start of its day (UTC) on, it is the stable one. */
export interface Release {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  /** Ids of the operations that graduate from preview with it. */
  readonly operations: readonly string[];
}

/** Every release, earliest first. An operation of none of them is reachable in preview only. */
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

/** The day, in UTC, of a moment in milliseconds since the epoch. */
export function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

/**
 * The version that a header value selects on `today`: a published date in the future selects that upcoming
 * release, any other date the stable one. Undefined when the value is not valid.
 */
export function selectVersion(
  header: string | undefined,
  releases: readonly Release[],
  today: string,
): Version | undefined {
  if (header === undefined || header === STABLE) return STABLE;
  if (header === PREVIEW) return PREVIEW;
  if (!isCalendarDate(header)) return undefined;
  return header > today && releases.some(({ date }) => date === header) ? header : STABLE;
}

/** The date of the latest release in force on `today`; of the first release when none is yet. */
export function latestVersion(releases: readonly Release[], today: string): string {
  return releases.findLast(({ date }) => date <= today)?.date ?? releases[0].date;
}

/** Whether an operation can be reached in a version on `today`. */
export function isReachable(
  operation: string,
  version: Version,
  releases: readonly Release[],
  today: string,
): boolean {
  if (version === PREVIEW) return true;
  // Before the first release is in force, it is the stable one all the same.
  const until = version === STABLE ? latestVersion(releases, today) : version;
  return releases.some(({ date, operations }) => date <= until && operations.includes(operation));
}
