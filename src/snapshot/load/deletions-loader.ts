import type { CollectionName } from '../../contract/operations.ts';
import { COLLECTION_NAMES } from '../../contract/resources.ts';
import { type Instant, parseTimestamp } from '../../contract/timestamp.ts';
import { findRow } from '../../store/index/id-index.ts';
import { sharedBytes, sharedFloats, sharedInt64s } from '../../store/memory/shared-arrays.ts';
import type { ChangesImage, CollectionImage } from '../../store/organization-image.ts';
import type { Deletion } from '../format/deletions.ts';
import { byCollection } from '../format/layout.ts';
import { inconsistent } from '../format/refused-snapshot.ts';
import type { HistoryRange } from './changes-builder.ts';

/** Loads the deletions of an organization. Refuses one that is malformed, or of a record of the content. */
export function loadDeletions(
  deletions: Iterable<Deletion>,
  content: Readonly<Record<CollectionName, CollectionImage>>,
  { after, until }: HistoryRange,
): Record<CollectionName, ChangesImage['deleted']> {
  const found = byCollection((): { id: string; instant: Instant }[] => []);
  for (const { collection, id, deletedAt } of deletions) {
    const refused = (problem: string) => inconsistent(`the deletion of "${id}" of ${collection} ${problem}`);
    const name = COLLECTION_NAMES.find((one) => one === collection);
    const instant = deletedAt.endsWith('Z') ? parseTimestamp(deletedAt) : undefined;
    if (name === undefined) throw refused('is of no collection');
    if (id === '') throw refused('has no id');
    if (instant === undefined || instant > until)
      throw refused(`has the time "${deletedAt}", which is not that of a snapshot up to this one`);
    if (findRow(content[name].ids, content[name].records, id) >= 0)
      throw refused('is of a record that the snapshot holds');
    if (instant > after) found[name].push({ id, instant });
  }
  return byCollection(({ name }) => imageOf(found[name]));
}

function imageOf(deletions: { id: string; instant: Instant }[]): ChangesImage['deleted'] {
  deletions.sort((a, b) => (a.instant < b.instant ? -1 : Number(a.instant > b.instant)));
  const texts = deletions.map(({ id }) => Buffer.from(`${JSON.stringify(id)},`));
  const bytes = sharedBytes(texts.reduce((sum, { length }) => sum + length, 0));
  const [offsets, sorted] = [sharedFloats(texts.length + 1), sharedInt64s(texts.length)];
  for (const [i, text] of texts.entries()) {
    bytes.set(text, offsets[i]);
    offsets[i + 1] = offsets[i] + text.length;
    sorted[i] = deletions[i].instant;
  }
  return { sorted, ids: { bytes, offsets } };
}
