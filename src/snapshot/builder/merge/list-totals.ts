import type { CollectionLayout } from '../../format/layout.ts';
import { type DeclaredList, NO_RECORDS } from '../../format/manifest.ts';
import { recordDigest, sumText } from '../../format/schema.ts';
import { parseJson, textsIn } from '../../format/json-values.ts';
import type { StagedRecord } from '../staging/staging-file.ts';

type Counted = Pick<StagedRecord, 'id' | 'values' | 'json'>;

/** The counts, bytes and sum of the records of a list, while some are added and others are taken away. */
export class ListTotals {
  readonly #layout: CollectionLayout;
  #counts: Pick<DeclaredList, 'recordCount' | 'recordBytes' | 'textBytes' | 'listElements'>;
  #longestRow: number;
  #sum: bigint;

  /** @param list records to begin with */
  constructor(layout: CollectionLayout, list = NO_RECORDS) {
    this.#layout = layout;
    this.#counts = list;
    this.#longestRow = list.longestRow;
    this.#sum = BigInt(`0x${list.recordsSum}`);
  }

  add(record: Counted): void {
    this.#longestRow = Math.max(this.#longestRow, this.#count(record, 1));
    this.#sum += digestOf(this.#layout, record);
  }

  remove(record: Counted): void {
    this.#count(record, -1);
    this.#sum -= digestOf(this.#layout, record);
  }

  /** Counts a record. Returns the bytes of its row that are bounded, as `rowBytes` does. */
  #count({ id, values, json }: Counted, sign: 1 | -1): number {
    const recordBytes = Buffer.byteLength(json);
    let [rowBytes, textBytes, listElements] = [Buffer.byteLength(id) + recordBytes, 0, 0];
    for (const [i, { holds }] of this.#layout.columns.entries()) {
      const value = values[i];
      if (typeof value !== 'string') continue;
      const bytes = Buffer.byteLength(value);
      rowBytes += bytes;
      if (holds === 'text') textBytes += bytes;
      else {
        const list = measureList(value, bytes);
        listElements += list.elements;
        textBytes += list.bytes;
      }
    }
    const before = this.#counts;
    this.#counts = {
      recordCount: before.recordCount + sign,
      recordBytes: before.recordBytes + sign * recordBytes,
      textBytes: before.textBytes + sign * textBytes,
      listElements: before.listElements + sign * listElements,
    };
    return rowBytes;
  }

  /** Returns the list without its digest. */
  list(firstRow: number, rowCount = this.#counts.recordCount): DeclaredList {
    if (this.#counts.recordCount === 0) return NO_RECORDS;
    const { recordCount, recordBytes, textBytes, listElements } = this.#counts;
    const counts = { recordCount, recordBytes, textBytes, listElements };
    const recordsSum = sumText(this.#sum);
    return { ...NO_RECORDS, firstRow, rowCount, ...counts, longestRow: this.#longestRow, recordsSum };
  }
}

/** Returns the number of the texts of a list as it is stored, and their bytes. */
function measureList(json: string, bytes: number): Readonly<Record<'elements' | 'bytes', number>> {
  if (json === '[]') return { elements: 0, bytes: 0 };
  if (!json.includes('\\')) {
    // Brackets, and for each text two quotes and a comma, but one.
    const elements = json.split('","').length;
    return { elements, bytes: bytes - 3 * elements - 1 };
  }
  const list = textsIn(parseJson(json));
  return { elements: list.length, bytes: list.reduce((sum, text) => sum + Buffer.byteLength(text), 0) };
}

/** Computes the digest of a record from its stored values. */
function digestOf({ name, columns }: CollectionLayout, { id, values, json }: Counted): bigint {
  const elements = columns.map(({ holds }, i) =>
    holds === 'text' ? JSON.stringify(values[i]) : String(values[i]),
  );
  return recordDigest(name, [JSON.stringify(id), ...elements].join(), json);
}
