import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { readSnapshot } from '../../src/snapshot/read-snapshot.ts';
import { CONTENT_TABLES, reseal } from './digests.ts';
import { digestsOf, organizationOf, recordsOf } from './import-folder.ts';
import { expectRefused, SoundSnapshot } from './sound-snapshot.ts';

describe('the content that the reader finds', () => {
  const snapshot = new SoundSnapshot();

  describe('refuses content that is not what was written', () => {
    for (const table of CONTENT_TABLES) {
      const last = `(SELECT max(row) FROM ${table})`;
      const columns = new Database(':memory:')
        .exec(readFileSync(new URL('../../data/schema.sql', import.meta.url), 'utf8'))
        .prepare<[string], string>("SELECT name FROM pragma_table_info(?) WHERE name <> 'row'")
        .pluck()
        .all(table);

      it(`a row less in ${table}: at the end, in the middle, at the beginning`, () => {
        expectRefused(
          snapshot.copyWith(`DELETE FROM ${table} WHERE row = ${last}`),
          `${table} has other rows than its segments count`,
        );
        expectRefused(
          snapshot.copyWith(`DELETE FROM ${table} WHERE row = 0`),
          `${table} has other rows than its segments count`,
        );
        expectRefused(
          snapshot.copyWith(`DELETE FROM ${table} WHERE row = 1`),
          new RegExp(`^${table} has \\d+ of its \\d+ rows from 0 on$`),
        );
      });

      it(`none of its rows in ${table}`, () => {
        expectRefused(
          snapshot.copyWith(`DELETE FROM ${table}`),
          `${table} has other rows than its segments count`,
        );
      });

      it(`a row more in ${table}`, () => {
        for (const row of [`${last} + 1`, '-1', '9223372036854775807']) {
          const path = snapshot.copyWith(
            `INSERT INTO ${table} SELECT ${row}, ${columns.join(', ')} FROM ${table} WHERE row = 2`,
          );
          expectRefused(path, `${table} has other rows than its segments count`);
        }
      });

      it(`two rows of ${table} in each other's place`, () => {
        const exchange = [
          [0, -1],
          [1, 0],
          [-1, 1],
        ].map(([from, to]) => `UPDATE ${table} SET row = ${to} WHERE row = ${from}`);
        expectRefused(
          snapshot.copyWith(...exchange),
          /^(the content of organization "north" does not match its digest: the file is damaged|\w+ is not in the order)/,
        );
      });

      for (const column of columns) {
        it(`another ${table}.${column}`, () => {
          const isText = !/_row$|^starts$|_at$/.test(column) || column === 'start_at';
          const other = isText ? `${column} || 'x'` : `${column} + 1`;
          expectRefused(
            snapshot.copyWith(`UPDATE ${table} SET ${column} = ${other} WHERE row = ${last}`),
            /^(the content of organization "south" does not match its digest|record \d+ of \w+ does not (begin with its id|end with)|the records of \w+ are longer|\w+_row names a row)/,
          );
        });
      }
    }

    it('a value of another kind', () => {
      const stored = (sql: string) => [
        'PRAGMA writable_schema = ON',
        `UPDATE sqlite_schema SET sql = replace(sql, 'updated_at       INTEGER NOT NULL', 'updated_at       ANY') WHERE name = 'tickets'`,
        'PRAGMA writable_schema = RESET',
        sql,
        'PRAGMA writable_schema = ON',
        `UPDATE sqlite_schema SET sql = replace(sql, 'updated_at       ANY', 'updated_at       INTEGER NOT NULL') WHERE name = 'tickets'`,
        'PRAGMA writable_schema = OFF',
      ];
      for (const value of ['NULL', "'soon'", '1.5', `'${'9'.repeat(400)}'`, "x'ff'"]) {
        expectRefused(
          snapshot.copyWith(...stored(`UPDATE tickets SET updated_at = ${value} WHERE row = 7`)),
          'column updated_at of tickets does not hold one whole number a row',
        );
      }
    });
  });

  describe('refuses content that contradicts itself, though the digests are right', () => {
    const south = (table: string) =>
      `(SELECT first_row FROM segments WHERE organization_id = 'south' AND table_name = '${table}')`;
    for (const [what, statement, reason] of [
      [
        'an id twice',
        'UPDATE tickets SET (ticket_id, record) = (SELECT ticket_id, record FROM tickets WHERE row = 3) WHERE row = 50',
        /^tickets holds ticketId "tkt_56" twice$/,
      ],
      [
        'an id twice in sessions',
        'UPDATE sessions SET (session_id, record) = (SELECT session_id, record FROM sessions WHERE row = 0) WHERE row = 9',
        /^sessions holds id "ses_\d" twice$/,
      ],
      [
        'another id in a record than in its row',
        "UPDATE orders SET order_id = 'ord' WHERE row = 0",
        /^record 0 of orders does not begin with its id: order_id is "ord"$/,
      ],
      [
        'an id that only begins alike',
        "UPDATE orders SET order_id = order_id || 'x' WHERE row = 0",
        /^record 0 of orders does not begin with its id: order_id is "ord_8x"$/,
      ],
      [
        'an id written with an escape that it does not need',
        `UPDATE orders SET record = replace(record, '"ord_8"', '"\\u006frd_8"') WHERE row = 0`,
        /^record 0 of orders does not begin with its id/,
      ],
      [
        'a record that begins with something else',
        "UPDATE tickets SET record = ' ' || record WHERE row = 2",
        /^record 2 of tickets does not begin with its id$/,
      ],
      [
        'a record of nothing',
        "UPDATE tickets SET record = '' WHERE row = 2",
        /^record 2 of tickets does not begin with its id$/,
      ],
      [
        'a record that does not end',
        'UPDATE events SET record = substr(record, 1, length(record) - 1) WHERE row = 1',
        /^record 1 of events does not end with }$/,
      ],
      [
        'an event without a session',
        'UPDATE sessions SET event_row = 1, starts = starts - 1000000000000000 WHERE event_row = 0',
        /^row 0 of events has no session$/,
      ],
      [
        'a session of an event of another organization',
        `UPDATE sessions SET event_row = 4 WHERE row = 9`,
        /^event_row names a row that is not there$/,
      ],
      [
        'a session of an event before the organization',
        `UPDATE sessions SET event_row = 0 WHERE row = ${south('sessions')}`,
        /^event_row names a row that is not there$/,
      ],
      [
        'sessions not by event',
        'UPDATE sessions SET event_row = 3 - event_row WHERE event_row < 4',
        /^sessions is out of order at row \d$/,
      ],
      [
        'sessions not by start',
        'UPDATE sessions SET starts = -starts WHERE event_row = 3',
        /^sessions is out of order at row \d$/,
      ],
      [
        'a tag of an event that is not there',
        'UPDATE event_tags SET event_row = 99 WHERE row = (SELECT max(row) FROM event_tags)',
        /^event_row names a row that is not there$/,
      ],
      [
        'an event of an order of another organization',
        'UPDATE order_events SET order_row = 0 WHERE row = (SELECT max(row) FROM order_events)',
        /^order_row names a row that is not there$/,
      ],
      [
        'an event of an offer that is far out',
        `UPDATE offer_events SET offer_row = -9223372036854775808 WHERE row = 0`,
        /^offer_row names a row that is not there$/,
      ],
      [
        'tags not in the order of their events',
        'UPDATE event_tags SET event_row = 3 - event_row WHERE event_row < 4',
        /^event_tags is not in the order of event_row$/,
      ],
      [
        'a value twice for one record',
        "UPDATE offer_resales SET resale_enabled = 'true'",
        /^offer_resales holds a value of one record twice$/,
      ],
      [
        'a separator within a text',
        "UPDATE tickets SET qr_code = CAST(x'41ff42' AS TEXT) WHERE row = 5",
        /^column qr_code of tickets does not hold one text a row$/,
      ],
      [
        'a separator within a record',
        `UPDATE tickets SET record = CAST(CAST(substr(record, 1, length(record) - 1) AS BLOB) || x'ff7d' AS TEXT) WHERE row = 5`,
        /^a record is not UTF-8$/,
      ],
    ] as const) {
      it(what, () => {
        const path = snapshot.copyWith(statement);
        reseal(path);
        expectRefused(path, reason);
      });
    }

    it('and takes a file that was changed and digested again as a whole', () => {
      const path = snapshot.copyWith(
        "UPDATE tickets SET qr_code = 'new', record = replace(record, 'north-7\"', 'new\"') WHERE qr_code = 'north-7'",
      );
      expectRefused(path, /does not match its digest|as long as/);
      reseal(path);
      const changed = readSnapshot(path);
      const north = organizationOf(changed, 'north');
      expect(recordsOf(north.tickets).get('tkt_7')).to.include({ qrCode: 'new' });
      expect(digestsOf(changed)['south']).to.equal(digestsOf(snapshot.image)['south']);
      expect(north.digest).to.not.equal(digestsOf(snapshot.image)['north']);
    });

    it('and takes organizations in any order of rows, and segments without rows anywhere between them', () => {
      const path = snapshot.copyWith(
        "INSERT INTO organizations VALUES ('east', 'Est', '')",
        "INSERT INTO segments SELECT 'east', table_name, first_row, 0, 0 FROM segments WHERE organization_id = 'south'",
        "INSERT INTO organizations VALUES ('west', 'Ouest', '')",
        "INSERT INTO segments SELECT 'west', table_name, 0, 0, 0 FROM segments WHERE organization_id = 'south'",
      );
      reseal(path);
      const { organizations } = readSnapshot(path);
      expect(organizations.map(({ organizationId }) => organizationId)).to.deep.equal([
        'east',
        'north',
        'south',
        'west',
      ]);
    });
  });
});
