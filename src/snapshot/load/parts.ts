import { EVENTS, OFFERS, ORDERS, SESSIONS, TICKETS, type CollectionLayout } from '../format/layout.ts';
import { type Deletion, instantOf, type ManifestOrganization, readDeletions } from '../format/manifest.ts';
import type { CollectionName } from '../../contract/operations.ts';
import type { Instant } from '../../contract/timestamp.ts';
import type { openSnapshot } from '../format/snapshot-file.ts';
import { BlockReader, type StoredBlock } from './block-reader.ts';

/** A part of the content of a snapshot file: records, the end of the changes of a list, or deletions of an organization. */
export type Part = StoredBlock | { readonly isEnd: true } | { readonly deletions: readonly Deletion[] };

/** Deletions in each part but the last one of an organization. */
const DELETIONS = 1000;

/** The largest collections come first: their build memory is released before the others are read. */
export const IN_LOAD_ORDER: readonly CollectionLayout[] = [TICKETS, ORDERS, EVENTS, SESSIONS, OFFERS];

/** What is read of an organization. */
export interface ReadOrganization {
  readonly organization: ManifestOrganization;
  /** By collection: the records that changed after a time, or none; by default all. */
  readonly only?: Readonly<Partial<Record<CollectionName, Instant | 'none'>>>;
}

/**
 * Reads the content of a snapshot file in the order in which it is loaded: of each organization its deletions, then its
 * lists. Checks the digests of deletions and of whole lists.
 * @throws RefusedSnapshot
 */
export function* readParts(
  { database, manifest }: ReturnType<typeof openSnapshot>,
  organizations: Iterable<ReadOrganization> = manifest.organizations.map((organization) => ({
    organization,
  })),
  reader = new BlockReader(database),
): Generator<Part> {
  const until = instantOf(manifest.producedAt);
  for (const { organization, only = {} } of organizations) {
    let deletions: Deletion[] = [];
    for (const deletion of readDeletions(database, organization, until)) {
      if (deletions.push(deletion) < DELETIONS) continue;
      yield { deletions };
      deletions = [];
    }
    yield { deletions };
    for (const layout of IN_LOAD_ORDER) {
      const { [layout.name]: after } = only;
      const list = [layout, organization.organizationId, organization.lists[layout.name]] as const;
      if (after === undefined) yield* reader.readList(...list);
      else if (after !== 'none') {
        yield* reader.read(...list, after);
        yield { isEnd: true };
      }
    }
  }
}

/**
 * Takes the blocks of the next list.
 * @param count number of its records; undefined when only the changes are read
 */
export function* takeBlocks(parts: Iterator<Part>, count?: number): Generator<StoredBlock> {
  for (let taken = 0; taken !== count;) {
    const { value: part } = parts.next() as IteratorResult<Part, undefined>;
    if (part === undefined || 'deletions' in part) throw new Error('the next part of the file is of no list');
    if ('isEnd' in part) return;
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
