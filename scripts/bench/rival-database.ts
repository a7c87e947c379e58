import type { TicketDatabase } from './ticket-database.ts';

/**
 * The rival's database: a table in list order, the record as text, and a covering index for each filter. A ticket keeps its position in the
 * list, so that no query sorts the whole list and a page of it needs no OFFSET.
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
