import type { RecordsImage } from '../store/records.ts';
import { ContentHash } from './content-hash.ts';
import type { TableDigest } from './content-hash.ts';
import { digestRecords } from './digested-records.ts';
import { CHUNK_ROWS, RECORD_COLUMN } from './format.ts';

/** Records that one thread lays into shared memory, while another digests those that are there. */
export interface GrowingRecords {
  readonly table: string;
  readonly records: RecordsImage;
  /** How many there will be. */
  readonly rowCount: number;
  /** One element: how many there are. */
  readonly filled: Int32Array<SharedArrayBuffer>;
}

export function tellFilled({ filled }: GrowingRecords, count: number): void {
  Atomics.store(filled, 0, count);
  Atomics.notify(filled, 0);
}

/**
 * Digests the records as they come, until all were there.
 * @returns what goes into the digest of the organization: of the rows, which the other thread counts, but this column
 * @throws RefusedSnapshot
 */
export function digestGrowing({
  table,
  records,
  rowCount,
  filled,
}: GrowingRecords): ReadonlyMap<string, TableDigest> {
  const hash = new ContentHash();
  for (let done = 0; done < rowCount;) {
    Atomics.wait(filled, 0, done);
    const end = Math.min(Atomics.load(filled, 0), done + CHUNK_ROWS);
    digestRecords(records, done, end, (values) => {
      hash.add(table, 0, [[RECORD_COLUMN, values]]);
    });
    done = end;
  }
  return hash.tables();
}
