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
 * Returns the version that a header value selects; undefined when the value is invalid. The date of an upcoming
 * release selects it, and any other date selects the stable version.
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

/** Returns the date of the latest release. Before the first one, returns the date of that. */
export function latestVersion(releases: readonly Release[], today: string): string {
  return releases.findLast(({ date }) => date <= today)?.date ?? releases[0].date;
}

/** Returns the announced end of a version; undefined without one. Preview has none: it may change on any day. */
export function endOf(version: Version, releases: readonly Release[], today: string): End | undefined {
  const release = version === STABLE ? latestVersion(releases, today) : version;
  return releases.find(({ date }) => date === release)?.end;
}

/** Returns the ids of the operations that a version has on `today`; undefined for preview, which has all. */
export function operationsOf(
  version: Version,
  releases: readonly Release[],
  today: string,
): ReadonlySet<string> | undefined {
  if (version === PREVIEW) return undefined;
  // Before its day, the first release is already the stable version.
  const until = version === STABLE ? latestVersion(releases, today) : version;
  return new Set(releases.filter(({ date }) => date <= until).flatMap(({ operations }) => operations));
}
