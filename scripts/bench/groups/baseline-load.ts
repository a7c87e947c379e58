import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';
import { COLLECTIONS } from '../../../src/snapshot/format/layout.ts';

/**
 * The baseline of a load, in its own process: the least work of any loader of a snapshot file. It reads every row by
 * iterate(), copies the records into shared memory, and digests all bytes. It checks nothing and builds no index.
 */

export interface BaselineReport {
  readonly ms: number;
  readonly bytes: number;
}

process.on('message', (path: string) => {
  const startedAt = performance.now();
  const database = new Database(path, { readonly: true, fileMustExist: true });
  const recordBytes = database.prepare<[], number>('SELECT sum(record_bytes) FROM lists').pluck().get() ?? 0;
  const memory = Buffer.from(new SharedArrayBuffer(recordBytes));
  let copied = 0;
  let bytes = 0;
  for (const { name, idColumn, columns } of COLLECTIONS) {
    const hash = createHash('sha256');
    const others = ['changed_at', idColumn, ...columns.map(({ column }) => column)];
    const rows = database.prepare<[], [record: Buffer, ...values: (string | bigint)[]]>(
      `SELECT CAST(record AS BLOB), ${others.join(', ')} FROM ${name} ORDER BY row`,
    );
    for (const [record, ...values] of rows.raw().safeIntegers().iterate()) {
      copied += record.copy(memory, copied);
      const text = values.join();
      hash.update(record).update(text);
      bytes += record.length + text.length;
    }
    hash.digest();
  }
  database.close();
  const report: BaselineReport = { ms: performance.now() - startedAt, bytes };
  process.send?.(report);
});
process.once('disconnect', () => process.exit());
