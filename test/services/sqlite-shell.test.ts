import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { SoundSnapshot } from '../snapshot/format/sound-snapshot.ts';
import { needs } from '../support/components.ts';

describe('The shell of SQLite', () => {
  needs('the shell of SQLite');
  const snapshot = new SoundSnapshot();

  const linesOf = (sql: string) =>
    execFileSync('sqlite3', ['-readonly', snapshot.path, sql], { encoding: 'utf8' }).trim().split('\n');

  it('reads the views of a snapshot', () => {
    expect(linesOf("SELECT record ->> 'currency', count(*) FROM tickets GROUP BY 1")).to.deep.equal([
      'JPY|120',
    ]);
    expect(linesOf('SELECT email, count(*) FROM orders GROUP BY 1 ORDER BY 1')).to.have.length(3);
    expect(linesOf("SELECT record FROM orders WHERE order_id = 'ord_7'")).to.have.length(2);
    for (const view of linesOf("SELECT name FROM sqlite_schema WHERE type = 'view'"))
      expect(linesOf(`SELECT * FROM ${view}`), view).to.not.deep.equal(['']);
  });
});
