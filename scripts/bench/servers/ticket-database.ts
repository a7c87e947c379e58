import { hash, timingSafeEqual } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import Database from 'better-sqlite3';
import { parseTimestamp } from '../../../src/contract/timestamp.ts';
import { parseCredential } from '../../../src/keys/credential.ts';

/** What the usual server and the rival share: the database of tickets, its queries, and the check of the key. */

export interface DatabaseSettings {
  readonly snapshot: string;
  /** The only valid credential. */
  readonly credential: string;
  /** The database; it is built when it is absent. */
  readonly database: string;
}

/**
 * A table in list order, with a column for each value that tickets are found, filtered or sorted by, and the record as
 * JSON. Each way of serving has indexes that cover its filters. Those of the usual way also have the columns of the list
 * order, so that SQLite counts, sorts and skips without reading the table. The rival sorts by the position in the list.
 */
const SCHEMA = `
  CREATE TABLE tickets (
    position        INTEGER PRIMARY KEY,
    organization_id TEXT    NOT NULL,
    ticket_id       TEXT    NOT NULL,
    event_id        TEXT    NOT NULL,
    issued_at       INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    record          TEXT    NOT NULL
  ) STRICT;`;
const ROWS = `
  INSERT INTO tickets
  SELECT row, organization_id, ticket_id, event_id, instant(record ->> 'issuedAt'), updated_at, record
  FROM snapshot.tickets`;
const INDEXES = `
  CREATE UNIQUE INDEX by_id ON tickets (organization_id, ticket_id);
  CREATE INDEX listed ON tickets (organization_id, issued_at DESC, ticket_id, updated_at);
  CREATE INDEX listed_by_update ON tickets (organization_id, updated_at, issued_at DESC, ticket_id);
  CREATE INDEX listed_by_event ON tickets (organization_id, event_id, issued_at DESC, ticket_id, updated_at);
  CREATE INDEX by_organization ON tickets (organization_id);
  CREATE INDEX by_event ON tickets (organization_id, event_id, position, updated_at);
  CREATE INDEX by_update ON tickets (organization_id, updated_at, position);
  ANALYZE;`;

const MMAP_BYTES = 16 * 2 ** 30;
const CACHE_KIB = 64 * 1024;

/** Conditions of SQL, and the values of their parameters. */
export interface Conditions {
  readonly where: string;
  readonly values: readonly (string | bigint)[];
}

/** Tickets with a prepared statement for each query. Of the rows of a result, the first column counts. */
export class TicketDatabase {
  readonly #database: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();

  constructor({ snapshot, database }: DatabaseSettings) {
    if (!existsSync(database)) build(snapshot, database);
    this.#database = new Database(database, { readonly: true });
    this.#database.pragma(`mmap_size = ${MMAP_BYTES}`);
    this.#database.pragma(`cache_size = -${CACHE_KIB}`);
  }

  statement(sql: string): Database.Statement {
    return this.#statements.getOrInsertComputed(sql, () => this.#database.prepare(sql).pluck());
  }

  record(organizationId: string, ticketId: string): string | undefined {
    const sql = 'SELECT record FROM tickets WHERE organization_id = ? AND ticket_id = ?';
    return this.statement(sql).get(organizationId, ticketId) as string | undefined;
  }

  count({ where, values }: Conditions): number {
    return Number(this.statement(`SELECT count(*) FROM tickets WHERE ${where}`).get(...values));
  }
}

/** Returns the conditions of the parameters that the bench uses. */
export function conditionsOf(organizationId: string, query: Readonly<Record<string, unknown>>): Conditions {
  const conditions = ['organization_id = ?'];
  const values: (string | bigint)[] = [organizationId];
  const { eventIds, 'updatedAt.gte': from, 'updatedAt.lte': until } = query;
  if (typeof eventIds === 'string') {
    const ids = eventIds.split(',');
    conditions.push(ids.length === 1 ? 'event_id = ?' : `event_id IN (${ids.map(() => '?').join()})`);
    values.push(...ids);
  }
  for (const [operator, bound] of [
    ['>=', from],
    ['<=', until],
  ] as const) {
    if (typeof bound !== 'string') continue;
    conditions.push(`updated_at ${operator} ?`);
    values.push(parseTimestamp(bound) ?? 0n);
  }
  return { where: conditions.join(' AND '), values };
}

/** Builds the database from a snapshot file. It appears under its name when it is complete. */
function build(snapshot: string, output: string): void {
  const draft = `${output}.draft`;
  const database = new Database(draft);
  database.pragma('journal_mode = OFF');
  database.pragma('synchronous = OFF');
  database.function('instant', { deterministic: true }, (text) => parseTimestamp(String(text)) ?? null);
  database.exec(SCHEMA);
  database.prepare('ATTACH ? AS snapshot').run(snapshot);
  database.exec(ROWS);
  database.exec('DETACH snapshot');
  database.exec(INDEXES);
  database.close();
  renameSync(draft, output);
}

/** Returns a check of credentials, which digests and compares the secret. The check returns the organization. */
export function keyCheck({ credential }: DatabaseSettings): (authorization: string) => string | undefined {
  const digestOf = (secret: string) => hash('sha256', secret, 'buffer');
  const key = parseCredential(`Bearer ${credential}`);
  const digest = digestOf(key?.secret ?? '');
  return (authorization) => {
    const given = parseCredential(authorization);
    const isValid = timingSafeEqual(digest, digestOf(given?.secret ?? ''));
    return isValid && given?.organizationId === key?.organizationId ? given?.organizationId : undefined;
  };
}
