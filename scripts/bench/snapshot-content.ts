import Database from 'better-sqlite3';
import type { CollectionName } from '../../src/contract/operations.ts';
import { byCollection } from '../../src/snapshot/format/layout.ts';

/** What of a record the bench asks by. Which of the fields are there, its collection tells. */
export type SampleRecord = Readonly<Record<string, unknown>>;

/** Looks into a snapshot file for what can be asked of who serves it. */
export class SnapshotContent implements Disposable {
  readonly #database: Database.Database;

  constructor(path: string) {
    this.#database = new Database(path, { readonly: true, fileMustExist: true });
  }

  count(collection: CollectionName): number {
    return (
      this.#database
        .prepare<[string], number | null>('SELECT sum(record_count) FROM runs WHERE collection = ?')
        .pluck()
        .get(collection) ?? 0
    );
  }

  /**
   * Returns records evenly apart, from all over the list; fewer when there are not so many.
   * @param phase 0 up to 1: others for another phase, when there are others
   */
  records(collection: CollectionName, wanted: number, phase = 0): SampleRecord[] {
    const count = this.count(collection);
    const apart = Math.max(1, count / wanted);
    const found: SampleRecord[] = [];
    let row = 0;
    // The views would parse every record.
    const { table } = byCollection((layout) => layout)[collection];
    const runs = this.#database.prepare<[], { record_lengths: string; records: Buffer }>(
      `SELECT record_lengths, CAST(records AS BLOB) AS records FROM ${table}`,
    );
    for (const { record_lengths: lengths, records } of runs.iterate()) {
      let start = 0;
      for (const length of elements<number>(lengths)) {
        if (row++ === Math.floor((found.length + phase) * apart))
          found.push(JSON.parse(records.toString('utf8', start, start + length)) as SampleRecord);
        start += length + 1;
      }
    }
    return found;
  }

  /** The instants of the last update of all tickets, ascending, in microseconds. */
  ticketUpdates(): Float64Array {
    return Float64Array.from(this.#ticketRuns(({ updates }) => updates)).sort();
  }

  /** Returns the instants of the last update of each event's tickets, ascending, in microseconds. */
  ticketUpdatesByEvent(): Map<string, Float64Array> {
    const tickets = this.#ticketRuns(({ eventIds, updates }) =>
      eventIds.map((eventId, i) => ({ eventId, update: updates[i] })),
    );
    const byEvent = Map.groupBy(tickets, ({ eventId }) => eventId);
    return new Map(
      byEvent
        .entries()
        .map(([eventId, of]) => [eventId, Float64Array.from(of, ({ update }) => update).sort()]),
    );
  }

  /** Returns the number of orders of each event. */
  orderCounts(): Map<string, number> {
    const sql = 'SELECT event_id, count(*) FROM order_events GROUP BY event_id';
    return new Map(this.#database.prepare<[], [string, number]>(sql).raw().all());
  }

  #ticketRuns<T>(of: (run: TicketRun) => readonly T[]): T[] {
    return this.#database
      .prepare<[], { event_id: string; updated_at: string }>('SELECT event_id, updated_at FROM ticket_runs')
      .all()
      .flatMap(({ event_id, updated_at }) => {
        const eventIds = elements<string | number>(event_id);
        return of({
          // A number is the position of an earlier element with the same text.
          eventIds: eventIds.map((value) => String(typeof value === 'number' ? eventIds[value] : value)),
          updates: elements<number>(updated_at),
        });
      });
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

interface TicketRun {
  readonly eventIds: readonly string[];
  readonly updates: readonly number[];
}

/** Reads a column of a run. */
function elements<T>(column: string): T[] {
  return JSON.parse(column) as T[];
}
