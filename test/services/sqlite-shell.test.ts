import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { needs } from '../support/components.ts';
import { setDeletions } from '../support/deletions.ts';
import { builtFrom } from '../support/import-folder.ts';
import { SMALL_DELETIONS, SMALL_IMPORT } from '../support/small-import.ts';
import { folderForAll } from '../support/temporary-folder.ts';

describe('The shell of SQLite', () => {
  needs('the shell of SQLite');
  const inFolder = folderForAll();
  const path = () => inFolder('snapshot.sqlite');

  before(async () => {
    await builtFrom(inFolder('.'), SMALL_IMPORT);
    setDeletions(path(), { north: SMALL_DELETIONS });
  });

  const linesOf = (sql: string) =>
    execFileSync('sqlite3', ['-readonly', path(), sql], { encoding: 'utf8' }).trim().split('\n');

  it('reads the tables of a snapshot', () => {
    expect(linesOf("SELECT record ->> 'currency', count(*) FROM tickets GROUP BY 1")).to.deep.equal([
      'JPY|120',
    ]);
    expect(linesOf('SELECT email, count(*) FROM orders GROUP BY 1 ORDER BY 1')).to.have.length(3);
    expect(linesOf("SELECT record FROM orders WHERE order_id = 'ord_7'")).to.have.length(2);
    for (const table of linesOf(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'ancestors'",
    ))
      expect(linesOf(`SELECT * FROM ${table}`), table).to.not.deep.equal(['']);
  });
});
