import Database from 'better-sqlite3';
import type { CollectionName } from '../../src/contract/operations.ts';

/** A record as the bench reads it; its fields depend on its collection. */
export type SampleRecord = Readonly<Record<string, unknown>>;

/** Reads a snapshot file for ids and values to request. */
export class SnapshotContent implements Disposable {
  readonly #database: Database.Database;

  constructor(path: string) {
    this.#database = new Database(path, { readonly: true, fileMustExist: true });
  }

  count(collection: CollectionName): number {
    const sql = 'SELECT sum(record_count) FROM lists WHERE collection = ?';
    return this.#database.prepare<[string], number | null>(sql).pluck().get(collection) ?? 0;
  }

  /**
   * Returns records at equal distances from the whole list; fewer when the list is shorter.
   * @param phase offset of the first record, 0 to 1 of a distance: another phase gives other records when there are enough
   */
  records(collection: CollectionName, wanted: number, phase = 0): SampleRecord[] {
    const count = this.count(collection);
    const distance = Math.max(1, count / wanted);
    const select = this.#database
      .prepare<[row: number], string>(`SELECT record FROM ${collection} WHERE row = ?`)
      .pluck();
    const found: SampleRecord[] = [];
    for (let i = 0; (i + phase) * distance < count; i++) {
      const record = select.get(Math.floor((i + phase) * distance) + 1);
      if (record !== undefined) found.push(JSON.parse(record) as SampleRecord);
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
    const sql = 'SELECT value, count(*) FROM orders, json_each(event_ids) GROUP BY value';
    return new Map(this.#database.prepare<[], [string, number]>(sql).raw().all());
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
