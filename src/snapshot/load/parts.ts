import { EVENTS, OFFERS, ORDERS, SESSIONS, TICKETS } from '../format/layout.ts';
import { type Deletion, instantOf, type ManifestOrganization, readDeletions } from '../format/manifest.ts';
import type { openSnapshot } from '../format/snapshot-file.ts';
import { type Columns, RunReader } from './run-reader.ts';

/** A part of the content of a snapshot file: the columns of a run, or deletions of an organization. */
export type Part = { readonly columns: Columns } | { readonly deletions: readonly Deletion[] };

/** Deletions in each part but the last one of an organization. */
const DELETIONS = 1000;

/** The largest collections come first: their build memory is released before the others are read. */
export const IN_LOAD_ORDER = [TICKETS, ORDERS, EVENTS, SESSIONS, OFFERS];

/** An organization, and those of its runs that are read. */
export interface ReadOrganization extends Pick<ManifestOrganization, 'runs'> {
  readonly organization: ManifestOrganization;
}

/**
 * Reads the content of a snapshot file in the order in which it is loaded: of each organization its deletions, then its
 * runs. Checks the digests of both, except those of changes.
 * @throws RefusedSnapshot
 */
export function* readParts(
  { database, manifest }: ReturnType<typeof openSnapshot>,
  organizations: Iterable<ReadOrganization> = manifest.organizations.map((organization) => ({
    organization,
    runs: organization.runs,
  })),
  reader = new RunReader(database),
): Generator<Part> {
  const until = instantOf(manifest.producedAt);
  for (const { organization, runs } of organizations) {
    let deletions: Deletion[] = [];
    for (const deletion of readDeletions(database, organization, until)) {
      if (deletions.push(deletion) < DELETIONS) continue;
      yield { deletions };
      deletions = [];
    }
    yield { deletions };
    for (const layout of IN_LOAD_ORDER) {
      for (const entry of runs[layout.name]) {
        const run = reader.read(layout, organization.organizationId, entry);
        run.checkDigest();
        yield run;
      }
    }
  }
}

/** Takes the next part, a run. */
export function takeColumns(parts: Iterator<Part>): Columns {
  const { value: part } = parts.next() as IteratorResult<Part, undefined>;
  if (part === undefined || !('columns' in part)) throw new Error('the next part of the file is no run');
  return part.columns;
}

/** Takes the next parts, the deletions of an organization. */
export function* takeDeletions(parts: Iterator<Part>): Generator<Deletion> {
  for (let count = DELETIONS; count === DELETIONS;) {
    const { value: part } = parts.next() as IteratorResult<Part, undefined>;
    if (part === undefined || !('deletions' in part)) throw new Error('the next part of the file is a run');
    yield* part.deletions;
    count = part.deletions.length;
  }
}
