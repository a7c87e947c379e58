import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';
import { COLLECTIONS } from '../../../src/snapshot/format/layout.ts';
import { contentColumns, RECORDS_COLUMN } from '../../../src/snapshot/format/schema.ts';

/**
 * The baseline of a load, in its own process: the least work of any loader of a snapshot file. It reads every run by iterate(), copies
 * the records into shared memory, and digests all bytes. It checks nothing and builds no index.
 */

export interface BaselineReport {
  readonly ms: number;
  readonly bytes: number;
}

process.on('message', (path: string) => {
  const startedAt = performance.now();
  const database = new Database(path, { readonly: true, fileMustExist: true });
  const recordBytes = database.prepare<[], number>('SELECT sum(record_bytes) FROM runs').pluck().get() ?? 0;
  const memory = new SharedArrayBuffer(recordBytes);
  let copied = 0;
  let bytes = 0;
  for (const layout of COLLECTIONS) {
    const columns = contentColumns(layout);
    const recordsAt = columns.indexOf(RECORDS_COLUMN);
    const statement = database.prepare<[], Buffer[]>(
      `SELECT ${columns.map((column) => `CAST(${column} AS BLOB)`).join(', ')} FROM ${layout.table}`,
    );
    for (const values of statement.raw().iterate()) {
      const records = values[recordsAt];
      records.copy(Buffer.from(memory, copied, records.length));
      copied += records.length;
      const hash = createHash('sha256');
      for (const value of values) {
        hash.update(value);
        bytes += value.length;
      }
      hash.digest();
    }
  }
  database.close();
  const report: BaselineReport = { ms: performance.now() - startedAt, bytes };
  process.send?.(report);
});
process.once('disconnect', () => process.exit());
