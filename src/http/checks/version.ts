import type { Request } from 'express';
import { type Operation, OPERATIONS } from '../../contract/operations.ts';
import {
  dayOf,
  isReachable,
  LATEST_VERSION_HEADER,
  latestVersion,
  PREVIEW,
  type Release,
  selectVersion,
  STABLE,
  type Version,
  VERSION_HEADER,
} from '../../contract/releases.ts';
import { type HeaderList, Problem } from '../response/problem.ts';

/** A version of the API as it stands on one day. */
export interface ApiVersion {
  readonly version: Version;
  /** Ids of the operations that it has. */
  readonly operations: ReadonlySet<string>;
  /** Its headers, which every response of the API carries. */
  readonly headers: HeaderList;
}

const DAY_MS = 86_400_000;
const HEADER_KEY = VERSION_HEADER.toLowerCase();
/** Characters of an invalid value that the problem repeats. */
const MAX_ECHO = 40;

const NOT_IN_THIS_VERSION = new Problem(
  404,
  `This operation is not in the version asked for; it needs the header ${VERSION_HEADER}: ${PREVIEW}.`,
);

/** The versions that the version header selects, each made once a day. */
export class ApiVersions {
  readonly #releases: readonly Release[];
  #day = NaN;
  #today = '';
  #byVersion = new Map<Version, ApiVersion>();

  /** @param releases earliest first */
  constructor(releases: readonly Release[]) {
    this.#releases = releases;
  }

  /**
   * Returns the version that a header value selects; undefined when the value is not valid.
   * @param now milliseconds since the epoch
   */
  select(header: string | undefined, now: number): ApiVersion | undefined {
    this.#turnTo(now);
    const version = selectVersion(header, this.#releases, this.#today);
    return version === undefined ? undefined : this.#make(version);
  }

  stable(now: number): ApiVersion {
    this.#turnTo(now);
    return this.#make(STABLE);
  }

  #turnTo(now: number): void {
    const day = Math.floor(now / DAY_MS);
    if (day === this.#day) return;
    this.#day = day;
    this.#today = dayOf(now);
    this.#byVersion = new Map();
  }

  #make(version: Version): ApiVersion {
    const known = this.#byVersion.get(version);
    if (known !== undefined) return known;
    const reachable = OPERATIONS.filter(({ id }) => isReachable(id, version, this.#releases, this.#today));
    const latest = latestVersion(this.#releases, this.#today);
    const made: ApiVersion = {
      version,
      operations: new Set(reachable.map(({ id }) => id)),
      headers: [VERSION_HEADER, version, LATEST_VERSION_HEADER, latest],
    };
    this.#byVersion.set(version, made);
    return made;
  }
}

/** What the context of a request says of its version. */
interface RequestedVersion {
  readonly version: ApiVersion | undefined;
  readonly isVersionValid: boolean;
}

/** Returns the version that a request asks for; undefined when it is not valid. */
export function versionOf(request: Request, versions: ApiVersions, now: number): ApiVersion | undefined {
  return versions.select(headerOf(request), now);
}

/**
 * Checks that an operation is in the version asked for.
 * @throws Problem 400 when the version is not valid, 404 when the operation is not in it
 */
export function checkVersion(
  operation: Operation,
  request: Request,
  { version, isVersionValid }: RequestedVersion,
): void {
  if (version === undefined || !isVersionValid) throw invalidVersion(headerOf(request) ?? '');
  if (!version.operations.has(operation.id)) throw NOT_IN_THIS_VERSION;
}

/** Returns the version header. Given twice it arrives as one text with a comma, which no version has. */
function headerOf({ headers }: Request): string | undefined {
  const value = headers[HEADER_KEY];
  return Array.isArray(value) ? value.join() : value;
}

function invalidVersion(asked: string): Problem {
  const value = asked.length > MAX_ECHO ? `${asked.slice(0, MAX_ECHO)}…` : asked;
  return new Problem(
    400,
    `"${value}" is an invalid API version: ${VERSION_HEADER} takes ${STABLE}, ${PREVIEW} or a date as YYYY-MM-DD.`,
  );
}
