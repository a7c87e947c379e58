import type { TicketDatabase } from './ticket-database.ts';

/**
 * The database of the usual server: the tickets of all organizations in one table, with a column for each thing that
 * they are found, filtered or sorted by, and the record as JSON. For each filter there is an index that also has the
 * order of the list and the instant of the last update: to count, to sort and to pass over needs no look at the table.
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
