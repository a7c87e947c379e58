import type { CollectionName } from '../../contract/operations.ts';
import type { Instant } from '../../contract/timestamp.ts';
import { findRow } from '../../store/index/id-index.ts';
import { instantImage } from '../../store/index/instant-index.ts';
import type { ChangesImage, HistoryImage } from '../../store/organization-image.ts';
import { recordsImage } from '../../store/records-builder.ts';
import { byCollection } from '../format/layout.ts';
import type { Deletion } from '../format/manifest.ts';
import { inconsistent } from '../format/refused-snapshot.ts';
import type { LoadedCollection } from './collection-loader.ts';

/** Loads the deletions of an organization with its other changes. Refuses one of a record of the content. */
export function loadDeletions(
  deletions: Iterable<Deletion>,
  loaded: Readonly<Record<CollectionName, LoadedCollection>>,
  since: Instant,
): HistoryImage['changes'] {
  const found = byCollection((): Deletion[] => []);
  for (const deletion of deletions) {
    const { collection, id, deletedAt } = deletion;
    const { ids, records } = loaded[collection].image;
    if (findRow(ids, records, id) >= 0)
      throw inconsistent(`the deletion of "${id}" of ${collection} is of a record that the snapshot holds`);
    if (deletedAt > since) found[collection].push(deletion);
  }
  return byCollection(({ name }) => ({ changed: loaded[name].changed, deleted: imageOf(found[name]) }));
}

function imageOf(deletions: readonly Deletion[]): ChangesImage['deleted'] {
  const { sorted, rows } = instantImage(BigInt64Array.from(deletions, ({ deletedAt }) => deletedAt));
  return { sorted, ids: recordsImage(Array.from(rows, (i) => JSON.stringify(deletions[i].id))) };
}
