import { appendFileSync, copyFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { mock } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import type { RefusalReason } from '../../../src/snapshot/format/refused-snapshot.ts';
import { FORMAT_VERSION } from '../../../src/snapshot/format/schema.ts';
import { openSnapshot } from '../../../src/snapshot/format/open-snapshot.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { expectRefused, SoundSnapshot } from '../../support/sound-snapshot.ts';

const REBUILD = 'rebuild it from its import folder: npm run snapshot -- build --input DIR --output FILE';
const FEED = 'for a feed, remove FEED_DIR/state, and the next one exports everything';

describe('The snapshot reader', () => {
  const snapshot = new SoundSnapshot();

  it('reads a file whose schema has other comments and white space', () => {
    const copy = snapshot.copyWith(
      'PRAGMA writable_schema = ON',
      "UPDATE sqlite_schema SET sql = replace(sql, '-- ', '--  another comment, ')",
    );
    expect(isDeepStrictEqual(readSnapshot(copy), snapshot.image)).to.equal(true);
  });

  const otherApplication = (id: number) =>
    `it is a database of another application: its application_id is ${id}, not 1181710706`;
  const withPragma = (pragma: string) => () => snapshot.copyWith(`PRAGMA ${pragma}`);
  const newDatabase = (...statements: string[]) => {
    const path = snapshot.file(`${statements.length}.sqlite`);
    new Database(path).exec([...statements, 'CREATE TABLE t (a)'].join(';')).close();
    return path;
  };

  for (const [what, makeFile, reason, message] of [
    ['a folder', () => snapshot.file('import'), 'not-a-file', 'it is not a regular file'],
    ['a device', () => '/dev/null', 'not-a-file', 'it is not a regular file'],
    ['a missing file', () => snapshot.file('nowhere.sqlite'), 'unreadable', /^it cannot be read: ENOENT/],
    ['a path through a file', () => `${snapshot.path}/a.sqlite`, 'unreadable', /^it cannot be read: ENOTDIR/],
    ['an empty file', () => snapshot.copyOf(() => Buffer.from('')), 'empty', 'the file is empty'],
    ...['x', 'SQLite format 3\0', 'some text\n'.repeat(1000), '\0'.repeat(20_000)].map(
      (text) =>
        [
          `${text.length} characters: ${JSON.stringify(text.slice(0, 20))}`,
          () => snapshot.copyOf(() => Buffer.from(text)),
          'not-sqlite',
          'it is not an SQLite database',
        ] as const,
    ),
    ['a database of no application', () => newDatabase(), 'foreign', otherApplication(0)],
    [
      'a database of another application',
      withPragma('application_id = 252006673'),
      'foreign',
      otherApplication(252006673),
    ],
    [
      'a database with a negative application_id',
      withPragma('application_id = -1'),
      'foreign',
      otherApplication(-1),
    ],
    ...[-1, 0, FORMAT_VERSION + 1, FORMAT_VERSION + 6].map(
      (version) =>
        [
          `format ${version}`,
          withPragma(`user_version = ${version}`),
          'other-version',
          `its format (user_version) is ${version}, but this Foyer reads format ${FORMAT_VERSION}; ${REBUILD}; ${FEED}`,
        ] as const,
    ),
    [
      'a text encoding other than UTF-8',
      () =>
        newDatabase(
          "PRAGMA encoding = 'UTF-16le'",
          'PRAGMA application_id = 1181710706',
          `PRAGMA user_version = ${FORMAT_VERSION}`,
        ),
      'schema',
      'its text encoding is not UTF-8',
    ],
    [
      'a file truncated within its header',
      () => snapshot.copyOf((bytes) => bytes.subarray(0, 99)),
      'not-sqlite',
      'it is not an SQLite database',
    ],
    ...[0.001, 0.25, 0.5, 0.9, 0.99999].map(
      (share) =>
        [
          `a file truncated to ${share * 100} %`,
          () => snapshot.copyOf((bytes) => bytes.subarray(0, Math.floor(bytes.length * share))),
          'cut-short',
          /^its header declares \d+ bytes, but the file has \d+: it is truncated, or still being copied$/,
        ] as const,
    ),
    [
      'a file with bytes added at its end',
      () => snapshot.copyOf((bytes) => Buffer.concat([bytes, Buffer.of(0)])),
      'cut-short',
      /^its header declares \d+ bytes, but the file has \d+: bytes were added at its end$/,
    ],
    [
      'a file with zeros instead of its second half',
      () => snapshot.copyOf((bytes) => bytes.fill(0, bytes.length >> 1)),
      'damaged',
      /^(SQLite cannot read it: .* \(SQLITE_CORRUPT.*\)|its table "deletions": .*: the file is damaged); copy or build it again$/,
    ],
  ] satisfies (readonly [string, () => string, RefusalReason, string | RegExp])[]) {
    it(`refuses ${what}`, () => {
      expectRefused(makeFile(), message, reason);
    });
  }

  it('refuses a file in WAL mode, and leaves no side files', () => {
    const path = snapshot.copyWith('PRAGMA journal_mode = WAL');
    expectRefused(path, /^it is in WAL mode; a snapshot is in rollback-journal mode/, 'wal');
    expect(readdirSync(dirname(path))).to.deep.equal(['a.sqlite']);
  });

  it('refuses a file with a journal or a write-ahead log, without applying it', () => {
    const [withJournal, withLog] = [snapshot.copy(), snapshot.copy()];
    writeFileSync(`${withJournal}-journal`, '');
    expectRefused(withJournal, 'a -journal file exists: the write to it is not complete', 'unfinished');
    const other = snapshot.copyWith('PRAGMA journal_mode = WAL');
    const writer = new Database(other);
    writer.exec("UPDATE organizations SET name = 'other'");
    copyFileSync(`${other}-wal`, `${withLog}-wal`);
    writer.close();
    expectRefused(withLog, 'a -wal file exists: the write to it is not complete');
    expect(readdirSync(dirname(withLog))).to.deep.equal(['a.sqlite', 'a.sqlite-wal']);
  });

  for (const [what, change] of Object.entries({
    'another file replaces it': (path: string) => {
      renameSync(snapshot.copy(), path);
    },
    'bytes are appended': (path: string) => {
      appendFileSync(path, '\0');
    },
  })) {
    it(`refuses a file, and closes it, when ${what} after SQLite has opened it`, () => {
      const path = snapshot.copy();
      const descriptors = readdirSync('/proc/self/fd').length;
      const original = Object.getOwnPropertyDescriptor(Database.prototype, 'pragma')
        ?.value as Database.Database['pragma'];
      const pragma = mock.method(Database.prototype, 'pragma');
      pragma.mock.mockImplementationOnce(function (this: Database.Database, source: string) {
        change(path);
        return original.call(this, source);
      });
      expectRefused(path, 'it was written to or replaced while it was being opened');
      pragma.mock.restore();
      expect(readdirSync('/proc/self/fd').length).to.equal(descriptors);
    });
  }

  it("opens a file with SQLite's defences on", () => {
    using opened = openSnapshot(snapshot.path);
    const { database } = opened.whole;
    // Without a mapping, SQLite may return no row.
    const setting = (pragma: string) => database.pragma(pragma, { simple: true }) ?? 0;
    const settings = ['trusted_schema', 'cell_size_check', 'query_only', 'mmap_size'].map(setting);
    expect(settings).to.deep.equal([0, 1, 1, 0]);
    expect(database.readonly).to.equal(true);
    // SQLITE_DBCONFIG_DEFENSIVE ignores this.
    database.pragma('writable_schema = ON');
    expect(setting('writable_schema')).to.equal(0);
  });

  describe('refuses another schema, and names the differences:', () => {
    for (const [statement, difference] of Object.entries({
      'CREATE TABLE extra (a)': 'table extra',
      'CREATE VIEW v AS SELECT * FROM tickets': 'view v',
      'CREATE INDEX i ON tickets (changed_at)': 'index i',
      'CREATE TRIGGER t AFTER INSERT ON tickets BEGIN DELETE FROM orders; END': 'trigger t',
      'DROP INDEX offer_ids': 'index offer_ids',
      'DROP INDEX order_ids; CREATE INDEX order_ids ON orders (organization_id, order_id)': 'index order_ids',
      'DROP TABLE tickets': 'index ticket_ids, table tickets',
      'ALTER TABLE tickets DROP COLUMN qr_code': 'table tickets',
      'ALTER TABLE tickets ADD COLUMN more TEXT': 'table tickets',
      'ALTER TABLE tickets RENAME COLUMN qr_code TO qr': 'table tickets',
    })) {
      it(statement, () => {
        expectRefused(
          snapshot.copyWith(statement),
          `its schema is not that of a snapshot (data/schema.sql) in ${difference}; ${REBUILD}`,
          'schema',
        );
      });
    }
  });
});
