import type { CollectionName } from '../../contract/operations.ts';
import type { Instant } from '../../contract/timestamp.ts';
import { findRow } from '../../store/index/id-index.ts';
import { sharedBytes, sharedFloats, sharedInt64s } from '../../store/memory/shared-arrays.ts';
import type { ChangesImage, CollectionImage } from '../../store/organization-image.ts';
import type { Deletion } from '../format/deletions.ts';
import { byCollection } from '../format/layout.ts';
import { inconsistent } from '../format/refused-snapshot.ts';

/** Loads the deletions of an organization. Refuses one of a record of the content. */
export function loadDeletions(
  deletions: Iterable<Deletion>,
  content: Readonly<Record<CollectionName, CollectionImage>>,
  after: Instant,
): Record<CollectionName, ChangesImage['deleted']> {
  const found = byCollection((): Deletion[] => []);
  for (const deletion of deletions) {
    const { collection, id, instant } = deletion;
    if (findRow(content[collection].ids, content[collection].records, id) >= 0)
      throw inconsistent(`the deletion of "${id}" of ${collection} is of a record that the snapshot holds`);
    if (instant > after) found[collection].push(deletion);
  }
  return byCollection(({ name }) => imageOf(found[name]));
}

function imageOf(deletions: Deletion[]): ChangesImage['deleted'] {
  deletions.sort((a, b) => (a.instant < b.instant ? -1 : Number(a.instant > b.instant)));
  const textOf = ({ id }: Deletion) => `${JSON.stringify(id)},`;
  const bytes = sharedBytes(deletions.reduce((sum, one) => sum + Buffer.byteLength(textOf(one)), 0));
  const target = Buffer.from(bytes.buffer);
  const [offsets, sorted] = [sharedFloats(deletions.length + 1), sharedInt64s(deletions.length)];
  for (const [i, deletion] of deletions.entries()) {
    offsets[i + 1] = offsets[i] + target.write(textOf(deletion), offsets[i]);
    sorted[i] = deletion.instant;
  }
  return { sorted, ids: { bytes, offsets } };
}
