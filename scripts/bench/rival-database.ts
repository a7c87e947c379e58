import { renameSync } from 'node:fs';
import Database from 'better-sqlite3';

/**
 * The rival's database: a table in list order, the record as text, and a covering index for each filter. A ticket keeps its position in the
 * list, so that no query sorts the whole list and a page of it needs no OFFSET.
 */
const SCHEMA = `
  CREATE TABLE tickets (
    position        INTEGER PRIMARY KEY,
    organization_id TEXT    NOT NULL,
    ticket_id       TEXT    NOT NULL,
    event_id        TEXT    NOT NULL,
    updated_at      INTEGER NOT NULL,
    record          TEXT    NOT NULL
  ) STRICT;`;

const INDEXES = `
  CREATE UNIQUE INDEX tickets_by_id ON tickets (organization_id, ticket_id);
  CREATE INDEX tickets_by_organization ON tickets (organization_id);
  CREATE INDEX tickets_by_event ON tickets (organization_id, event_id, position, updated_at);
  CREATE INDEX tickets_by_update ON tickets (organization_id, updated_at, position);
  ANALYZE;`;

/** Makes the database from a snapshot of one organization. It appears under its name when it is complete. */
export function makeRivalDatabase(snapshot: string, output: string): void {
  const draft = `${output}.draft`;
  const database = new Database(draft);
  try {
    database.pragma('journal_mode = OFF');
    database.pragma('synchronous = OFF');
    database.exec(SCHEMA);
    database.prepare('ATTACH ? AS snapshot').run(snapshot);
    database.exec(`
      INSERT INTO tickets
        SELECT row, organization_id, ticket_id, event_id, updated_at, record FROM snapshot.tickets;`);
    database.exec('DETACH snapshot');
    database.exec(INDEXES);
  } finally {
    database.close();
  }
  renameSync(draft, output);
}
