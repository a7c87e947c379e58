import Database from 'better-sqlite3';
import { CONTENT_TABLES } from '../../src/snapshot/format.ts';

/**
 * A process that goes through all content of a snapshot file, row by row, the plain way, and does nothing with it:
 * what reading costs before anything is made of it.
 */

export interface IterateAnswer {
  readonly ms: number;
  readonly rows: number;
}

process.on('message', (path: string) => {
  const beganAt = performance.now();
  const database = new Database(path, { readonly: true, fileMustExist: true });
  let rows = 0;
  for (const { name, columns } of CONTENT_TABLES) {
    const statement = database.prepare(`SELECT ${columns.join(', ')} FROM ${name}`);
    const iterator = statement.iterate();
    while (iterator.next().done !== true) rows++;
  }
  database.close();
  const answer: IterateAnswer = { ms: performance.now() - beganAt, rows };
  process.send?.(answer);
});
process.once('disconnect', () => process.exit());
