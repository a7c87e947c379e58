import { OPERATIONS } from '../contract/operations.ts';
import {
  dayOf,
  isReachable,
  LATEST_VERSION_HEADER,
  latestVersion,
  selectVersion,
  STABLE,
  VERSION_HEADER,
} from '../contract/releases.ts';
import type { Release, Version } from '../contract/releases.ts';
import type { HeaderList } from './problem.ts';

/** A version of the API as it stands on one day. */
export interface Edition {
  readonly version: Version;
  /** Ids of the operations that can be reached in it. */
  readonly operations: ReadonlySet<string>;
  /** The headers that tell it. */
  readonly headers: HeaderList;
}

const DAY_MS = 86_400_000;

/** The versions that the version header selects, worked out once for each day. */
export class Editions {
  readonly #releases: readonly Release[];
  #day = NaN;
  #today = '';
  #byVersion = new Map<Version, Edition>();

  constructor(releases: readonly Release[]) {
    this.#releases = releases;
  }

  /** What a header value selects at a moment (milliseconds since the epoch); undefined when it is not valid. */
  select(header: string | undefined, now: number): Edition | undefined {
    this.#turnTo(now);
    const version = selectVersion(header, this.#releases, this.#today);
    return version === undefined ? undefined : this.#edition(version);
  }

  stable(now: number): Edition {
    this.#turnTo(now);
    return this.#edition(STABLE);
  }

  #turnTo(now: number): void {
    const day = Math.floor(now / DAY_MS);
    if (day === this.#day) return;
    this.#day = day;
    this.#today = dayOf(now);
    this.#byVersion = new Map();
  }

  #edition(version: Version): Edition {
    const known = this.#byVersion.get(version);
    if (known !== undefined) return known;
    const reachable = OPERATIONS.filter(({ id }) => isReachable(id, version, this.#releases, this.#today));
    const latest = latestVersion(this.#releases, this.#today);
    const edition: Edition = {
      version,
      operations: new Set(reachable.map(({ id }) => id)),
      headers: [VERSION_HEADER, version, LATEST_VERSION_HEADER, latest],
    };
    this.#byVersion.set(version, edition);
    return edition;
  }
}
