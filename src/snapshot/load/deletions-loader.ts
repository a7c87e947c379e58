import { COLLECTION_NAMES } from '../../contract/resources.ts';
import type { CollectionName } from '../../contract/operations.ts';
import { parseTimestamp } from '../../contract/timestamp.ts';
import { findRow } from '../../store/index/id-index.ts';
import { decodeText } from '../../store/index/texts.ts';
import type { CollectionImage, ListImage } from '../../store/organization-image.ts';
import { recordAt } from '../../store/records.ts';
import { parseObject, textIn } from '../format/json-values.ts';
import { byCollection, DELETIONS } from '../format/layout.ts';
import { rowCount, type RunEntry } from '../format/manifest.ts';
import { inconsistent, RefusedSnapshot } from '../format/refused-snapshot.ts';
import { CollectionIndexes } from './collection-indexes.ts';
import { RecordsLoader } from './records-loader.ts';
import type { Run } from './run-reader.ts';

const [COLLECTION_COLUMN, INSTANT_COLUMN] = DELETIONS.columns;

type Deletion = NonNullable<ReturnType<typeof deletionIn>>;

/** Builds the image of the deletions of an organization. Deletions are parsed and checked in full. */
export class DeletionsLoader {
  readonly #content: Readonly<Record<CollectionName, CollectionImage>>;
  readonly #count: number;
  readonly #records: RecordsLoader;
  readonly #indexes: CollectionIndexes;
  /** The ids of the deletions so far. */
  readonly #ids = byCollection(() => new Set<string>());
  #last: Deletion | undefined;

  /** @param content the records of the same organization, which no deletion may name */
  constructor(runs: readonly RunEntry[], content: Readonly<Record<CollectionName, CollectionImage>>) {
    this.#content = content;
    this.#count = rowCount(runs);
    this.#records = new RecordsLoader(DELETIONS, COLLECTION_COLUMN.index, runs, undefined);
    this.#indexes = new CollectionIndexes(DELETIONS, this.#count);
  }

  /** Copies, checks and indexes the next run. Deletions are in order, distinct, and not of records of the content. */
  add(run: Run): void {
    this.#records.add(run);
    const instants = new BigInt64Array(run.entry.recordCount);
    run.readInstants(INSTANT_COLUMN.column, instants, 0);
    const { texts, textOf } = run.texts(COLLECTION_COLUMN.column);
    const { firstRow } = run.entry;
    for (const [i, text] of textOf.entries()) {
      const row = firstRow + i;
      const deletion = deletionIn(recordAt(this.#records.image, row).toString());
      if (deletion === undefined) throw refused(row, 'is not a deletion in its stored form');
      const { collection, id, instant } = deletion;
      if (collection !== decodeText(texts, text) || instant !== instants[i])
        throw refused(row, 'differs from its columns');
      if (this.#last !== undefined && !isBefore(this.#last, deletion)) throw refused(row, 'is out of order');
      const { ids, records } = this.#content[collection];
      if (findRow(ids, records, id) >= 0)
        throw refused(row, `deletes "${id}" of ${collection}, which the snapshot holds`);
      if (this.#ids[collection].has(id)) {
        const deletionOf = `the deletion of "${id}" of ${collection}`;
        throw new RefusedSnapshot('duplicate-id', `${DELETIONS.table} holds ${deletionOf} twice`);
      }
      this.#ids[collection].add(id);
      this.#last = deletion;
    }
    this.#indexes.add(run);
  }

  finish(): ListImage {
    return { count: this.#count, records: this.#records.image, ...this.#indexes.finish() };
  }
}

/** Parses a deletion. Returns undefined if the text is not that of JSON.stringify for a valid one. */
function deletionIn(text: string) {
  const record = parseObject(text);
  const [id, deletedAt] = [textIn(record?.['id']), textIn(record?.['deletedAt'])];
  const collection = COLLECTION_NAMES.find((name) => name === record?.['collection']);
  const instant = deletedAt.endsWith('Z') ? parseTimestamp(deletedAt) : undefined;
  const isId = id !== '' && id.isWellFormed();
  if (collection === undefined || instant === undefined || !isId) return undefined;
  return JSON.stringify({ collection, id, deletedAt }) === text ? { collection, id, instant } : undefined;
}

function isBefore(a: Deletion, b: Deletion): boolean {
  if (a.instant !== b.instant) return a.instant < b.instant;
  return a.id === b.id ? a.collection < b.collection : a.id < b.id;
}

function refused(row: number, problem: string): RefusedSnapshot {
  return inconsistent(`record ${row} of ${DELETIONS.table} ${problem}`);
}
