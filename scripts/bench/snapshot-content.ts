import Database from 'better-sqlite3';
import type { CollectionName } from '../../src/contract/operations.ts';
import { byCollection } from '../../src/snapshot/format/layout.ts';

/** A record as the bench reads it; its fields depend on its collection. */
export type SampleRecord = Readonly<Record<string, unknown>>;

/** Reads a snapshot file for ids and values to request. */
export class SnapshotContent implements Disposable {
  readonly #database: Database.Database;

  constructor(path: string) {
    this.#database = new Database(path, { readonly: true, fileMustExist: true });
  }

  count(collection: CollectionName): number {
    const sql = 'SELECT sum(record_count) FROM runs WHERE collection = ?';
    return this.#database.prepare<[string], number | null>(sql).pluck().get(collection) ?? 0;
  }

  /**
   * Returns records at equal distances from the whole list; fewer when the list is shorter.
   * @param phase offset of the first record, 0 to 1 of a distance: another phase gives other records when there are enough
   */
  records(collection: CollectionName, wanted: number, phase = 0): SampleRecord[] {
    const distance = Math.max(1, this.count(collection) / wanted);
    const found: SampleRecord[] = [];
    let row = 0;
    // The views of the schema would parse every record.
    const { table } = byCollection((layout) => layout)[collection];
    const runs = this.#database.prepare<[], { record_lengths: string; records: Buffer }>(
      `SELECT record_lengths, CAST(records AS BLOB) AS records FROM ${table}`,
    );
    for (const { record_lengths: lengths, records } of runs.iterate()) {
      let start = 0;
      for (const length of JSON.parse(lengths) as number[]) {
        if (row++ === Math.floor((found.length + phase) * distance))
          found.push(JSON.parse(records.toString('utf8', start, start + length)) as SampleRecord);
        start += length + 1;
      }
    }
    return found;
  }

  /** Returns `updatedAt` of each event's tickets, ascending, in microseconds. */
  ticketUpdates(): Map<string, Float64Array> {
    const rows = this.#database
      .prepare<[], [string, number]>('SELECT event_id, updated_at FROM tickets ORDER BY 2')
      .raw()
      .all();
    const byEvent = Map.groupBy(rows, ([eventId]) => eventId);
    return new Map(byEvent.entries().map(([id, group]) => [id, Float64Array.from(group, ([, at]) => at)]));
  }

  /** Returns the number of orders of each event. */
  orderCounts(): Map<string, number> {
    const sql = 'SELECT event_id, count(*) FROM order_events GROUP BY event_id';
    return new Map(this.#database.prepare<[], [string, number]>(sql).raw().all());
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
