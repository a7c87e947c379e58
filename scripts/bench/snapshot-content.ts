import Database from 'better-sqlite3';
import type { CollectionName } from '../../src/contract/operations.ts';

/** What of a record the bench asks by. Which of the fields are there, its collection tells. */
export type SampleRecord = Readonly<Record<string, unknown>>;

/** Looks into a snapshot file for what can be asked of who serves it. */
export class SnapshotContent implements Disposable {
  readonly #database: Database.Database;

  constructor(path: string) {
    this.#database = new Database(path, { readonly: true, fileMustExist: true });
  }

  count(collection: CollectionName): number {
    // Rows count from 0 without a gap; count(*) would read them all.
    return this.#numbers(`SELECT ifnull(max(row) + 1, 0) FROM ${collection}`)[0];
  }

  /**
   * Records evenly apart, from all over the list; fewer when there are not so many.
   * @param phase 0 up to 1: others for another phase, when there are others
   */
  records(collection: CollectionName, wanted: number, phase = 0): SampleRecord[] {
    const count = this.count(collection);
    const apart = Math.max(1, count / wanted);
    const statement = this.#database
      .prepare<[number], string>(`SELECT record FROM ${collection} WHERE row = ?`)
      .pluck();
    return Array.from({ length: Math.min(wanted, count) }, (_, i) => {
      const record = statement.get(Math.floor((i + phase) * apart));
      return JSON.parse(String(record)) as SampleRecord;
    });
  }

  /** The instants of the last update of all tickets, ascending, in microseconds. */
  ticketUpdates(): Float64Array {
    return Float64Array.from(this.#numbers('SELECT updated_at FROM tickets')).sort();
  }

  /** Returns the instants of the last update of each event's tickets, ascending, in microseconds. */
  ticketUpdatesByEvent(): Map<string, Float64Array> {
    const rows = this.#database
      .prepare<[], [string, number]>('SELECT event_id, updated_at FROM tickets ORDER BY event_id, updated_at')
      .raw()
      .all();
    const byEvent = Map.groupBy(rows, ([eventId]) => eventId);
    return new Map(
      byEvent.entries().map(([eventId, of]) => [eventId, Float64Array.from(of, ([, instant]) => instant)]),
    );
  }

  /** Returns the number of orders of each event. */
  orderCounts(): Map<string, number> {
    const sql = 'SELECT event_id, count(*) FROM order_events GROUP BY event_id';
    return new Map(this.#database.prepare<[], [string, number]>(sql).raw().all());
  }

  #numbers(sql: string): number[] {
    return this.#database.prepare<[], number>(sql).pluck().all();
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}
