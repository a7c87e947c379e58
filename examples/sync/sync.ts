import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  type Copy,
  FoyerClient,
  FoyerError,
  ResponseError,
  type SyncState,
} from '../../client/src/foyer-client.ts';

/**
 * Keeps a copy of an organization's records in an SQLite database.
 *
 *     FOYER_KEY=svc:o:ORGANIZATION:SECRET node sync.ts https://tickets.example.org copy.sqlite --every 60
 *
 * Without --every, it makes one round. --events evt_42,evt_43 limits the copy to these events. It needs Node 24 or later.
 * The guide of the service, /docs/guide, explains the changes of a round.
 */

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { events: { type: 'string' }, every: { type: 'string' } },
});
const credential = process.env['FOYER_KEY'];
if (positionals.length !== 2 || credential === undefined) {
  console.error(
    'usage: FOYER_KEY=svc:o:ORGANIZATION:SECRET node sync.ts URL DATABASE [--events IDS] [--every SECONDS]',
  );
  process.exit(2);
}

const [baseUrl, path] = positionals;
const eventIds = values.events?.split(',').map((id) => id.trim());
const database = new DatabaseSync(path);
database.exec(`
CREATE TABLE IF NOT EXISTS records (
  collection TEXT, id TEXT, event_id TEXT, body TEXT, -- event_id: of sessions, whose bodies lack it
  PRIMARY KEY (collection, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY CHECK (id = 1), value TEXT);
`);
const put = database.prepare('REPLACE INTO records VALUES (?, ?, ?, ?)');
const remove = database.prepare('DELETE FROM records WHERE collection = ? AND id = ?');

/** A round is a transaction. The records are JSON text. */
const copy: Copy = {
  begin() {
    database.exec('BEGIN IMMEDIATE');
  },
  clear() {
    database.exec('DELETE FROM records');
  },
  remove(keys) {
    for (const { collection, id } of keys) remove.run(collection, id);
  },
  put(entries) {
    for (const entry of entries) {
      const eventId = entry.collection === 'sessions' ? entry.eventId : null;
      put.run(entry.collection, entry.id, eventId, JSON.stringify(entry.record));
    }
  },
  commit(state) {
    database.prepare('REPLACE INTO state VALUES (1, ?)').run(JSON.stringify(state));
    database.exec('COMMIT');
  },
  rollback() {
    // After some errors, such as that of a full disk, SQLite has ended the transaction.
    if (database.isTransaction) database.exec('ROLLBACK');
  },
};

/** Returns whether the key is unknown, revoked or expired. */
const isRefused = (error: FoyerError) => error instanceof ResponseError && error.status === 403;

const client = new FoyerClient({ baseUrl, credential });
for (;;) {
  try {
    const row = database.prepare('SELECT value FROM state').get();
    const state = row && (JSON.parse(String(row['value'])) as SyncState);
    const { dataAsOf } = await client.sync(copy, state?.next, { eventIds });
    console.log(`copied the data as of ${dataAsOf}`);
  } catch (error) {
    if (!(error instanceof FoyerError)) throw error;
    // The copy is unchanged. The next round begins with the same token.
    console.error(`not copied: ${error.message}`);
    // A refusal would be the same again.
    if (values.every === undefined || isRefused(error)) process.exit(1);
  }
  if (values.every === undefined) break;
  await setTimeout(Number(values.every) * 1000);
}
