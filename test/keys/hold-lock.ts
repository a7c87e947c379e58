import Database from 'better-sqlite3';

/** Holds a database locked against readers from the time of its first message until it is sent one. */
const [path = ''] = process.argv.slice(2);
const database = new Database(path);
database.exec('BEGIN EXCLUSIVE');
process.once('message', () => {
  database.close();
  process.disconnect?.();
});
process.send?.('locked');
