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
    return (
      this.#database
        .prepare<[string], number | null>('SELECT sum(record_count) FROM runs WHERE collection = ?')
        .pluck()
        .get(collection) ?? 0
    );
  }

  /**
   * Returns records at equal distances from the whole list; fewer when the list is shorter.
   * @param phase offset of the first record, 0 to 1 of a distance: another phase gives other records when there are enough
   */
  records(collection: CollectionName, wanted: number, phase = 0): SampleRecord[] {
    const count = this.count(collection);
    const distance = Math.max(1, count / wanted);
    const found: SampleRecord[] = [];
    let row = 0;
    // The views of the schema would parse every record.
    const { table } = byCollection((layout) => layout)[collection];
    const runs = this.#database.prepare<[], { record_lengths: string; records: Buffer }>(
      `SELECT record_lengths, CAST(records AS BLOB) AS records FROM ${table}`,
    );
    for (const { record_lengths: lengths, records } of runs.iterate()) {
      let start = 0;
      for (const length of parseColumn<number>(lengths)) {
        if (row++ === Math.floor((found.length + phase) * distance))
          found.push(JSON.parse(records.toString('utf8', start, start + length)) as SampleRecord);
        start += length + 1;
      }
    }
    return found;
  }

  /** Returns `updatedAt` of all tickets, ascending, in microseconds. */
  ticketUpdates(): Float64Array {
    return Float64Array.from(this.#fromTicketRuns(({ updates }) => updates)).sort();
  }

  /** Returns `updatedAt` of each event's tickets, ascending, in microseconds. */
  ticketUpdatesByEvent(): Map<string, Float64Array> {
    const tickets = this.#fromTicketRuns(({ eventIds, updates }) =>
      eventIds.map((eventId, i) => ({ eventId, update: updates[i] })),
    );
    const byEvent = Map.groupBy(tickets, ({ eventId }) => eventId);
    return new Map(
      byEvent
        .entries()
        .map(([eventId, group]) => [eventId, Float64Array.from(group, ({ update }) => update).sort()]),
    );
  }

  /** Returns the number of orders of each event. */
  orderCounts(): Map<string, number> {
    const sql = 'SELECT event_id, count(*) FROM order_events GROUP BY event_id';
    return new Map(this.#database.prepare<[], [string, number]>(sql).raw().all());
  }

  #fromTicketRuns<T>(read: (run: TicketRun) => readonly T[]): T[] {
    return this.#database
      .prepare<[], { event_id: string; updated_at: string }>('SELECT event_id, updated_at FROM ticket_runs')
      .all()
      .flatMap(({ event_id, updated_at }) => {
        const eventIds = parseColumn<string | number>(event_id);
        return read({
          // A number is the position of an earlier element with the same text.
          eventIds: eventIds.map((value) => String(typeof value === 'number' ? eventIds[value] : value)),
          updates: parseColumn<number>(updated_at),
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

/** Parses a column of a run. */
function parseColumn<T>(column: string): T[] {
  return JSON.parse(column) as T[];
}
