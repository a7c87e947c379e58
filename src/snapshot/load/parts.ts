import { EVENTS, OFFERS, ORDERS, SESSIONS, TICKETS, type CollectionLayout } from '../format/layout.ts';
import { type Deletion, instantOf, type ManifestOrganization, readDeletions } from '../format/manifest.ts';
import type { CollectionName } from '../../contract/operations.ts';
import type { OpenSnapshot } from '../format/open-snapshot.ts';
import type { StoredBlock } from './block-reader.ts';
import type { SnapshotReader } from './snapshot-reader.ts';

/** A part of the content of a snapshot: records, or deletions of an organization. */
export type Part = StoredBlock | { readonly deletions: readonly Deletion[] };

/** Deletions in each part but the last one of an organization. */
const DELETIONS = 1000;

/** The largest collections come first: their build memory is released before the others are read. */
export const IN_LOAD_ORDER: readonly CollectionLayout[] = [TICKETS, ORDERS, EVENTS, SESSIONS, OFFERS];

/** An organization to read. */
export interface ReadOrganization {
  readonly organization: ManifestOrganization;
  /** Collections of which only the changes are read; by default none. */
  readonly changesOf?: ReadonlySet<CollectionName>;
}

/**
 * Reads the content of a snapshot in the order in which it is loaded: of each organization its deletions, then its lists.
 * Checks the digests.
 * @throws RefusedSnapshot
 */
export function* readParts(
  { latest: { database, manifest } }: OpenSnapshot,
  reader: SnapshotReader,
  organizations: Iterable<ReadOrganization> = manifest.organizations.map((organization) => ({
    organization,
  })),
): Generator<Part> {
  const until = instantOf(manifest.producedAt);
  for (const { organization, changesOf } of organizations) {
    let deletions: Deletion[] = [];
    for (const deletion of readDeletions(database, organization, until)) {
      if (deletions.push(deletion) < DELETIONS) continue;
      yield { deletions };
      deletions = [];
    }
    yield { deletions };
    for (const layout of IN_LOAD_ORDER) {
      const list = [layout, organization.organizationId] as const;
      yield* changesOf?.has(layout.name) === true ? reader.readChanges(...list) : reader.readList(...list);
    }
  }
}

/**
 * Takes the blocks of the next list.
 * @param count number of its records that are read
 */
export function* takeBlocks(parts: Iterator<Part>, count: number): Generator<StoredBlock> {
  for (let taken = 0; taken < count;) {
    const { value: part } = parts.next() as IteratorResult<Part, undefined>;
    if (part === undefined || 'deletions' in part) throw new Error('the next part of the file is of no list');
    taken += part.count;
    yield part;
  }
}

/** Takes the next parts, the deletions of an organization. */
export function* takeDeletions(parts: Iterator<Part>): Generator<Deletion> {
  for (let count = DELETIONS; count === DELETIONS;) {
    const { value: part } = parts.next() as IteratorResult<Part, undefined>;
    if (part === undefined || !('deletions' in part))
      throw new Error('the next part of the file is of a list');
    yield* part.deletions;
    count = part.deletions.length;
  }
}
