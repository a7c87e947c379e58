import type { Permit } from '../format/manifest.ts';
import type { ImportOptions } from './staging/read-import.ts';

export interface BuildOptions extends ImportOptions {
  /** The snapshot that the import changes; undefined when the import has all records. */
  readonly base?: string | undefined;
  /** The snapshot before this one, to find what changed, when the import has all records. */
  readonly previous?: string | undefined;
  /** Time for which changes are kept, in milliseconds; `KEEP_CHANGES_DAYS` by default. */
  readonly keepChangesMs?: number | undefined;
  /** The snapshot file, which may be the base. An existing file is kept until the new one is complete. */
  readonly output: string;
  /** The permits of a snapshot that is published, whose output is in the snapshot folder; undefined for another. */
  readonly permits?: readonly Permit[] | undefined;
  /** Permit that organizations, or more than half of a large collection, vanish without deletions that name them. */
  readonly allowShrink?: boolean;
  /** Refuse records that look wrong, instead of a warning. */
  readonly isStrict?: boolean;
}
