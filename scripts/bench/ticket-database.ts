import { renameSync } from 'node:fs';
import Database from 'better-sqlite3';
import { parseTimestamp } from '../../src/contract/timestamp.ts';

/** A database of tickets, as a server that is compared with Foyer has it. */
export interface TicketDatabase {
  /** SQL that creates the table `tickets`. */
  readonly schema: string;
  /** SQL that selects its rows from the attached `snapshot`; `instant(text)` returns the microseconds of a timestamp. */
  readonly rows: string;
  /** SQL that creates its indexes. */
  readonly indexes: string;
}

/** Makes the database from a snapshot file. It appears under its name when it is complete. */
export function makeTicketDatabase(
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
