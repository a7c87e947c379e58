import Database from 'better-sqlite3';

/** Locks a database against readers, reports it by a message, and releases the lock on a message. */
const [path = ''] = process.argv.slice(2);
const database = new Database(path);
database.exec('BEGIN EXCLUSIVE');
process.once('message', () => {
  database.close();
  process.disconnect?.();
});
process.send?.('locked');
