import { renameSync } from 'node:fs';
import Database from 'better-sqlite3';
import { parseTimestamp } from '../../../src/contract/timestamp.ts';

/** The ticket database of a comparison server. */
export interface TicketDatabase {
  /** SQL that creates the table `tickets`. */
  readonly schema: string;
  /** SQL that selects its rows from the attached `snapshot`; `instant(text)` returns the microseconds of a timestamp. */
  readonly rows: string;
  /** SQL that creates its indexes. */
  readonly indexes: string;
}

/**
 * The usual server's database: a column for each value that tickets are found, filtered or sorted by, and the record as JSON. The index
 * of each filter also has the columns of the list order and `updated_at`, so that SQLite counts, sorts and skips without reading the table.
 */
export const USUAL_DATABASE: TicketDatabase = {
  schema: `
    CREATE TABLE tickets (
      organization_id  TEXT    NOT NULL,
      ticket_id        TEXT    NOT NULL,
      event_id         TEXT    NOT NULL,
      event_session_id TEXT    NOT NULL,
      order_id         TEXT    NOT NULL,
      qr_code          TEXT    NOT NULL,
      issued_at        INTEGER NOT NULL,
      updated_at       INTEGER NOT NULL,
      record           TEXT    NOT NULL
    ) STRICT;`,
  rows: `
    SELECT organization_id, ticket_id, event_id, event_session_id, order_id, qr_code,
      instant(record ->> 'issuedAt'), updated_at, record
    FROM snapshot.tickets`,
  indexes: `
    CREATE UNIQUE INDEX tickets_by_id ON tickets (organization_id, ticket_id);
    CREATE INDEX tickets_listed ON tickets (organization_id, issued_at DESC, ticket_id, updated_at);
    CREATE INDEX tickets_by_update ON tickets (organization_id, updated_at, issued_at DESC, ticket_id);
    CREATE INDEX tickets_by_event ON tickets (organization_id, event_id, issued_at DESC, ticket_id, updated_at);
    CREATE INDEX tickets_by_session ON tickets (organization_id, event_session_id, issued_at DESC, ticket_id, updated_at);
    CREATE INDEX tickets_by_order ON tickets (organization_id, order_id, issued_at DESC, ticket_id, updated_at);
    CREATE INDEX tickets_by_qr_code ON tickets (organization_id, qr_code, issued_at DESC, ticket_id, updated_at);
    ANALYZE;`,
};

/**
 * The rival's database: a table in list order, the record as text, and a covering index for each filter. The position in the list is a
 * column, so that no query sorts the whole list and a page of it needs no OFFSET.
 */
export const RIVAL_DATABASE: TicketDatabase = {
  schema: `
    CREATE TABLE tickets (
      position        INTEGER PRIMARY KEY,
      organization_id TEXT    NOT NULL,
      ticket_id       TEXT    NOT NULL,
      event_id        TEXT    NOT NULL,
      updated_at      INTEGER NOT NULL,
      record          TEXT    NOT NULL
    ) STRICT;`,
  rows: `
    SELECT row, organization_id, ticket_id, event_id, updated_at, record FROM snapshot.tickets`,
  indexes: `
    CREATE UNIQUE INDEX tickets_by_id ON tickets (organization_id, ticket_id);
    CREATE INDEX tickets_by_organization ON tickets (organization_id);
    CREATE INDEX tickets_by_event ON tickets (organization_id, event_id, position, updated_at);
    CREATE INDEX tickets_by_update ON tickets (organization_id, updated_at, position);
    ANALYZE;`,
};

/** Builds the database from a snapshot file. It appears under its name when it is complete. */
export function buildTicketDatabase(
  snapshot: string,
  output: string,
  { schema, rows, indexes }: TicketDatabase,
): void {
  const draft = `${output}.draft`;
  const database = new Database(draft);
  try {
    database.pragma('journal_mode = OFF');
    database.pragma('synchronous = OFF');
    database.exec(schema);
    database.function('instant', { deterministic: true }, (text) => parseTimestamp(String(text)) ?? null);
    database.prepare('ATTACH ? AS snapshot').run(snapshot);
    database.exec(`INSERT INTO tickets ${rows}`);
    database.exec('DETACH snapshot');
    database.exec(indexes);
  } finally {
    database.close();
  }
  renameSync(draft, output);
}
