import Database from 'better-sqlite3';
import { parseTimestamp } from '../../../src/contract/timestamp.ts';

/** Ticket queries as they are usually written: SQL on each request, with a prepared statement for each set of filters. */

const MMAP_BYTES = 16 * 2 ** 30;
const CACHE_KIB = 64 * 1024;

/** The parameters of a list request, unparsed. */
export interface TicketQuery {
  readonly page: number;
  readonly perPage: number;
  readonly filters: ReadonlyMap<Filter, string>;
}

const COLUMNS = {
  eventIds: 'event_id',
  sessionIds: 'event_session_id',
  orderIds: 'order_id',
  qrCodes: 'qr_code',
  'updatedAt.gte': 'updated_at',
  'updatedAt.lte': 'updated_at',
} as const;

export type Filter = keyof typeof COLUMNS;
export const FILTERS = Object.keys(COLUMNS) as readonly Filter[];

export interface TicketPage {
  readonly items: readonly unknown[];
  readonly total: number;
}

type Value = string | number | bigint;

export class UsualTickets {
  readonly #database: Database.Database;
  readonly #statements = new Map<string, Database.Statement<Value[]>>();

  constructor(file: string) {
    this.#database = new Database(file, { readonly: true, fileMustExist: true });
    this.#database.pragma(`mmap_size = ${MMAP_BYTES}`);
    this.#database.pragma(`cache_size = -${CACHE_KIB}`);
  }

  /** Returns a ticket; undefined when the organization has none with the id. */
  one(organizationId: string, ticketId: string): unknown {
    const found = this.#prepared(
      'SELECT record FROM tickets WHERE organization_id = ? AND ticket_id = ?',
    ).get(organizationId, ticketId);
    return typeof found === 'string' ? JSON.parse(found) : undefined;
  }

  page(organizationId: string, { page, perPage, filters }: TicketQuery): TicketPage {
    const conditions = ['organization_id = ?'];
    const values: Value[] = [organizationId];
    for (const [filter, text] of filters) {
      const column = COLUMNS[filter];
      if (column === 'updated_at') {
        conditions.push(`updated_at ${filter.endsWith('gte') ? '>=' : '<='} ?`);
        values.push(parseTimestamp(text) ?? 0n);
      } else {
        const keys = text.split(',');
        conditions.push(
          keys.length === 1 ? `${column} = ?` : `${column} IN (${keys.map(() => '?').join(', ')})`,
        );
        values.push(...keys);
      }
    }
    const where = `WHERE ${conditions.join(' AND ')}`;
    const total = Number(this.#prepared(`SELECT count(*) FROM tickets ${where}`).get(...values));
    // Skipping and sorting read an index alone; only the records of the page come from the table.
    const records = this.#prepared(
      `SELECT record FROM tickets WHERE rowid IN
         (SELECT rowid FROM tickets ${where} ORDER BY issued_at DESC, ticket_id LIMIT ? OFFSET ?)
       ORDER BY issued_at DESC, ticket_id`,
    ).all(...values, perPage, (page - 1) * perPage);
    return { items: records.map((record) => JSON.parse(String(record)) as unknown), total };
  }

  #prepared(sql: string): Database.Statement<Value[]> {
    const prepared = this.#statements.get(sql) ?? this.#database.prepare<Value[]>(sql).pluck();
    this.#statements.set(sql, prepared);
    return prepared;
  }
}
