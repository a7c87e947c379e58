import Database from 'better-sqlite3';
import { expect } from 'chai';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { inspectSnapshot, readSnapshot } from '../../../src/snapshot/load/read-snapshot.ts';
import { alterRuns, keepFirst, replaceInRecords, type RunContent } from '../../support/alter-runs.ts';
import {
  contentColumnsOf,
  reseal,
  restamp,
  RUN_TABLES,
  STORED_LISTS,
  type StoredList,
} from '../../support/digests.ts';
import { digestsOf, organizationOf, recordsOf } from '../../support/import-folder.ts';
import { expectRefused, SoundSnapshot } from '../format/sound-snapshot.ts';

describe('The content of a snapshot', () => {
  const snapshot = new SoundSnapshot();

  describe('is refused after a change:', () => {
    for (const collection of STORED_LISTS) {
      const table = RUN_TABLES[collection];
      const first = "organization_id = 'south' AND first_row = 0";
      // An offer of the import begins a run by its id.
      const count = collection === 'offers' ? 4 : 2;

      it(`a run missing from ${table}, or all of them`, () => {
        expectRefused(
          snapshot.copyWith(`DELETE FROM ${table} WHERE ${first}`),
          `${table} has ${count - 1} rows, but "runs" declares ${count} for ${collection}`,
        );
        expectRefused(
          snapshot.copyWith(`DELETE FROM ${table}`),
          `${table} has 0 rows, but "runs" declares ${count} for ${collection}`,
        );
      });

      it(`an additional run in ${table}`, () => {
        const path = snapshot.copyWith(
          `CREATE TEMP TABLE copied AS SELECT * FROM ${table} WHERE ${first}; UPDATE copied SET first_row = 99`,
          `INSERT INTO ${table} SELECT * FROM copied`,
        );
        expectRefused(
          path,
          `${table} has more than ${count} rows, but "runs" declares ${count} for ${collection}`,
        );
      });

      it(`a run of ${table} moved to another row or organization`, () => {
        for (const place of ['first_row = 99', "organization_id = 'west'"]) {
          expectRefused(
            snapshot.copyWith(`UPDATE ${table} SET ${place} WHERE ${first}`),
            `${table} has no valid run of "south" at row 0: it is missing, or a column exceeds 16777216 bytes`,
          );
        }
      });

      const columns = contentColumnsOf(new Database(':memory:').exec(snapshot.schema), table);
      for (const column of columns) {
        it(`${table}.${column} with another byte, length or type`, () => {
          const damaged = new RegExp(
            `^the content of organization "south" does not match its digest: ${collection} from row 0 to \\d+; ` +
              'the file is damaged; copy or build it again$',
          );
          for (const value of [
            `replace(${column}, substr(${column}, -3, 1), '?')`,
            `${column} || ' '`,
            `substr(${column}, 2)`,
            "''",
            "x'ff'",
          ]) {
            expectRefused(
              snapshot.copyWith(`UPDATE ${table} SET ${column} = CAST(${value} AS TEXT) WHERE ${first}`),
              damaged,
            );
          }
        });
      }
    }

    it('two exchanged runs', () => {
      const exchange = [
        ['north', 'other'],
        ['south', 'north'],
        ['other', 'south'],
      ].map(
        ([from, to]) => `UPDATE ticket_runs SET organization_id = '${to}' WHERE organization_id = '${from}'`,
      );
      expectRefused(
        snapshot.copyWith(...exchange),
        /^the content of organization "north" does not match its digest: tickets/,
      );
    });

    it('a value of another type than its column', () => {
      const stored = (sql: string) => [
        'PRAGMA writable_schema = ON',
        `UPDATE sqlite_schema SET sql = replace(sql, 'qr_code          TEXT    NOT NULL', 'qr_code ANY') WHERE name = 'ticket_runs'`,
        'PRAGMA writable_schema = RESET',
        sql,
        'PRAGMA writable_schema = ON',
        `UPDATE sqlite_schema SET sql = replace(sql, 'qr_code ANY', 'qr_code          TEXT    NOT NULL') WHERE name = 'ticket_runs'`,
        'PRAGMA writable_schema = OFF',
      ];
      const copyWith = (value: string) =>
        snapshot.copyWith(...stored(`UPDATE ticket_runs SET qr_code = ${value}`));
      expectRefused(copyWith('NULL'), 'column qr_code of ticket_runs is NULL at row 0');
      for (const value of ['7', '1.5', "x'5b5d'"])
        expectRefused(copyWith(value), /^the content of organization "north" does not match its digest/);
    });
  });

  describe('is refused for a contradiction under matching digests:', () => {
    interface Contradiction {
      readonly collection: StoredList;
      readonly alter: (run: RunContent) => void;
      readonly reason: RegExp;
    }
    const setRecord = (i: number, change: (record: string) => string) => (run: RunContent) => {
      run.records[i] = change(run.records[i]);
    };
    const setElement = (column: string, i: number, element: unknown) => (run: RunContent) => {
      run.columns[column][i] = element;
    };
    const exchangeRecords = (i: number, j: number) => (run: RunContent) => {
      for (const values of [run.records, ...Object.values(run.columns)])
        [values[i], values[j]] = [values[j], values[i]];
    };
    const CONTRADICTIONS: Readonly<Record<string, Contradiction>> = {
      'a repeated id': {
        collection: 'tickets',
        alter: ({ records }) => (records[50] = records[3]),
        reason: /^ticket_runs holds ticketId "tkt_56" twice$/,
      },
      'a repeated session id': {
        collection: 'sessions',
        alter: ({ records }) => (records[9] = records[0]),
        reason: /^session_runs holds id "ses_\d" twice$/,
      },
      'a repeated id with an escape': {
        collection: 'orders',
        alter: (run) => {
          replaceInRecords('"ord_', '"o\\n')(run);
          run.records[1] = run.records[0];
        },
        reason: /^order_runs holds orderId "o\n8" twice$/,
      },
      'an id written with an escape that it does not need': {
        collection: 'orders',
        alter: setRecord(0, (record) => record.replace('"ord_8"', '"\\u006frd_8"')),
        reason: /^record 0 of order_runs does not begin with its orderId$/,
      },
      'an id with half of a surrogate pair': {
        collection: 'orders',
        alter: setRecord(0, (record) => record.replace('"ord_8"', '"\\ud800"')),
        reason: /^record 0 of order_runs does not begin with its orderId$/,
      },
      'an id that does not end': {
        collection: 'orders',
        alter: setRecord(8, () => '{"orderId":"ord_}'),
        reason: /^record 8 of order_runs does not begin with its orderId$/,
      },
      'an id that does not end after an escape': {
        collection: 'orders',
        alter: setRecord(8, () => '{"orderId":"ord\\n_}'),
        reason: /^record 8 of order_runs does not begin with its orderId$/,
      },
      'an empty id': {
        collection: 'orders',
        alter: setRecord(0, (record) => record.replace('"ord_8"', '""')),
        reason: /^record 0 of order_runs does not begin with its orderId$/,
      },
      'an id that is not a text': {
        collection: 'orders',
        alter: setRecord(0, (record) => record.replace('"ord_8"', '8')),
        reason: /^record 0 of order_runs does not begin with its orderId$/,
      },
      'an id that ends in the next record': {
        collection: 'orders',
        alter: (run) => {
          run.records[0] = '{"orderId":"ord\\"}';
          run.records[1] = `{"orderId":"${run.records[1].slice('{"orderId":"'.length)}`;
        },
        reason: /^record 0 of order_runs does not begin with its orderId$/,
      },
      'an empty id in a column': {
        collection: 'tickets',
        alter: setElement('order_id', 7, ''),
        reason: /^column order_id of ticket_runs holds an empty id for record 7$/,
      },
      'a record of more than 1 MiB': {
        collection: 'tickets',
        alter: setRecord(3, (record) => record.replace('"JPY"', `"${'x'.repeat(2 ** 20)}"`)),
        reason: /^record 3 of ticket_runs exceeds 1048576 bytes$/,
      },
      'an event that is not JSON': {
        collection: 'events',
        alter: setRecord(1, (record) => record.replace(',"title":', ',"title"')),
        reason: /^record 1 of event_runs is not an event in its stored form$/,
      },
      'an offer without its lists': {
        collection: 'offers',
        alter: setRecord(0, (record) => record.replace(/,"pricing":\[.*?\]/, '')),
        reason: /^record 0 of offer_runs is not an offer in its stored form$/,
      },
      'an offer with its fields in another order': {
        collection: 'offers',
        alter: setRecord(0, (record) => record.replace(/(,"vatRate":0)(.*)(\})$/, '$2$1$3')),
        reason: /^record 0 of offer_runs is not an offer in its stored form$/,
      },
      'an offer with a field that its type does not have': {
        collection: 'offers',
        alter: replaceInRecords('"type":"TICKET"', '"type":"PRODUCT"'),
        reason: /^record \d of offer_runs is not an offer in its stored form$/,
      },
      'a record that begins with something else': {
        collection: 'tickets',
        alter: setRecord(2, (record) => ` ${record}`),
        reason: /^record 2 of ticket_runs does not begin with its ticketId$/,
      },
      'an empty record': {
        collection: 'tickets',
        alter: setRecord(2, () => ''),
        reason: /^record 2 of ticket_runs does not end with }$/,
      },
      'a record that does not end': {
        collection: 'events',
        alter: setRecord(1, (record) => record.slice(0, -1)),
        reason: /^record 1 of event_runs does not end with }$/,
      },
      'an event without a session': {
        collection: 'sessions',
        alter: ({ columns }) => {
          columns['event_id'].fill(columns['event_id'][9]);
          columns['starts'].sort();
        },
        reason: /^record 0 of event_runs has no session$/,
      },
      'a session of a missing event': {
        collection: 'sessions',
        alter: setElement('event_id', 9, 'evt_7'),
        reason:
          /^record 9 of session_runs is a session of "evt_7", which is not an event of the organization$/,
      },
      'sessions out of event order': {
        collection: 'sessions',
        alter: ({ columns }) => columns['event_id'].reverse(),
        reason: /^record \d of session_runs is out of order$/,
      },
      'sessions out of start order': {
        collection: 'sessions',
        alter: ({ columns }) => columns['starts'].reverse(),
        reason: /^record 1 of session_runs is out of order$/,
      },
      'a session that is not JSON': {
        collection: 'sessions',
        alter: setRecord(3, (record) => record.replace('"startAt":', '"startAt"')),
        reason: /^record 3 of session_runs is not a session in its stored form$/,
      },
      'a repeated value in the list of a record': {
        collection: 'offers',
        alter: setElement('resale_enabled', 0, ['true', 'true']),
        reason: /^column resale_enabled of offer_runs holds a text of record 0 twice$/,
      },
      'a missing value': {
        collection: 'tickets',
        alter: ({ columns }) => columns['qr_code'].pop(),
        reason: /^column qr_code of ticket_runs is not a JSON array with one text for each record at row 0$/,
      },
      'an additional instant': {
        collection: 'tickets',
        alter: ({ columns }) => columns['updated_at'].push(0),
        reason: /^column updated_at of ticket_runs is not a JSON array with one whole number for each record/,
      },
      'a start that is a text': {
        collection: 'sessions',
        alter: setElement('starts', 0, '0'),
        reason: /^column starts of session_runs is not a JSON array with one whole number for each record/,
      },
      'a session without an event': {
        collection: 'sessions',
        alter: setElement('event_id', 0, null),
        reason: /^column event_id of session_runs is not a JSON array with one text for each record/,
      },
      'a deletion of no collection': {
        collection: 'deletions',
        alter: setRecord(0, (record) => record.replace('tickets', 'forms')),
        reason: /^record 0 of deletion_runs is not a deletion in its stored form$/,
      },
      'a deletion with another field': {
        collection: 'deletions',
        alter: setRecord(1, (record) => record.replace('}', ',"by":"x"}')),
        reason: /^record 1 of deletion_runs is not a deletion in its stored form$/,
      },
      'a deletion with white space': {
        collection: 'deletions',
        alter: setRecord(1, (record) => record.replace(',', ', ')),
        reason: /^record 1 of deletion_runs is not a deletion in its stored form$/,
      },
      'a deletion without an id': {
        collection: 'deletions',
        alter: setRecord(0, (record) => record.replace('gone_2', '')),
        reason: /^record 0 of deletion_runs is not a deletion in its stored form$/,
      },
      'a deletion whose id is not Unicode': {
        collection: 'deletions',
        alter: setRecord(0, (record) => record.replace('gone_2', '\\ud800')),
        reason: /^record 0 of deletion_runs is not a deletion in its stored form$/,
      },
      'a deletion at a local time': {
        collection: 'deletions',
        alter: setRecord(2, (record) => record.replace('Z"', '+00:00"')),
        reason: /^record 2 of deletion_runs is not a deletion in its stored form$/,
      },
      'a deletion at a day that does not exist': {
        collection: 'deletions',
        alter: setRecord(2, (record) => record.replace('-11-02', '-11-31')),
        reason: /^record 2 of deletion_runs is not a deletion in its stored form$/,
      },
      'a deletion that does not begin with its collection': {
        collection: 'deletions',
        alter: setRecord(3, () => '{"id":"gone","collection":"tickets","deletedAt":"2026-11-03T12:00:00Z"}'),
        reason: /^record 3 of deletion_runs does not begin with its collection$/,
      },
      'a deletion of another collection than its column': {
        collection: 'deletions',
        alter: setElement('collection', 1, 'tickets'),
        reason: /^record 1 of deletion_runs differs from its columns$/,
      },
      'a deletion at another time than its column': {
        collection: 'deletions',
        alter: setElement('deleted_at', 3, 0),
        reason: /^record 3 of deletion_runs differs from its columns$/,
      },
      'deletions out of the order of their times': {
        collection: 'deletions',
        alter: exchangeRecords(0, 1),
        reason: /^record 1 of deletion_runs is out of order$/,
      },
      'deletions at one time out of the order of their collections': {
        collection: 'deletions',
        alter: exchangeRecords(1, 2),
        reason: /^record 2 of deletion_runs is out of order$/,
      },
      'deletions at one time out of the order of their ids': {
        collection: 'deletions',
        alter: setRecord(2, (record) => record.replace('gone_1', 'gone_0')),
        reason: /^record 2 of deletion_runs is out of order$/,
      },
      'a repeated deletion at one time': {
        collection: 'deletions',
        alter: (run) => {
          run.records[1] = run.records[2];
          run.columns['collection'][1] = 'tickets';
        },
        reason: /^record 2 of deletion_runs is out of order$/,
      },
      'a repeated deletion at another time': {
        collection: 'deletions',
        alter: setRecord(2, (record) => record.replace('gone_1', 'gone_2')),
        reason: /^deletion_runs holds the deletion of "gone_2" of tickets twice$/,
      },
      'a deletion of a record that is there': {
        collection: 'deletions',
        alter: setRecord(0, (record) => record.replace('gone_2', 'tkt_7')),
        reason: /^record 0 of deletion_runs deletes "tkt_7" of tickets, which the snapshot holds$/,
      },
      'a missing collection of a deletion': {
        collection: 'deletions',
        alter: ({ columns }) => columns['collection'].pop(),
        reason:
          /^column collection of deletion_runs is not a JSON array with one text for each record at row 0$/,
      },
      'a text instead of a list': {
        collection: 'events',
        alter: setElement('tags', 0, 'jazz'),
        reason:
          /^column tags of event_runs is not a JSON array with one list of texts for each record at row 0$/,
      },
    };
    for (const [what, { collection, alter, reason }] of Object.entries(CONTRADICTIONS)) {
      it(what, () => {
        const path = snapshot.copy();
        alterRuns(path, collection, alter, 'north');
        reseal(path);
        expectRefused(path, reason);
      });
    }

    it('a ticket or order that is not JSON, in a thorough check only', () => {
      for (const collection of ['tickets', 'orders'] as const) {
        const path = snapshot.copy();
        alterRuns(
          path,
          collection,
          setRecord(2, (record) => record.replace(',"currency":', ',"currency"')),
          'north',
        );
        reseal(path);
        expect(readSnapshot(path).organizations).to.have.length(2);
        expect(() => readSnapshot(path, { isThorough: true })).to.throw(
          RefusedSnapshot,
          `record 2 of ${RUN_TABLES[collection]} is not a JSON object`,
        );
        const parsedRuns = new Set(
          inspectSnapshot(path).organizations.flatMap(({ runs }) =>
            runs[collection].map(({ digest }) => digest),
          ),
        );
        expect(readSnapshot(path, { isThorough: true, parsedRuns }).organizations).to.have.length(2);
      }
    });

    it('a session of an event of another organization', () => {
      const path = snapshot.copy();
      alterRuns(path, 'events', replaceInRecords('"evt_', '"evt-'), 'north');
      reseal(path);
      expectRefused(path, /is a session of "evt_\d", which is not an event of the organization$/);
    });

    it('records whose lengths differ from "record_lengths"', () => {
      for (const [lengths, reason] of [
        ["replace(record_lengths, '[', '[1')", 'record 0 of event_runs differs from its declared length'],
        ["replace(record_lengths, ']', '0]')", 'record 3 of event_runs differs from its declared length'],
        [
          "replace(record_lengths, ']', '.5]')",
          /^column record_lengths of event_runs is not a JSON array with one length/,
        ],
        [
          "replace(record_lengths, '[', '[-')",
          /^column record_lengths of event_runs is not a JSON array with one length/,
        ],
      ] as const) {
        const path = snapshot.copyWith(
          `UPDATE event_runs SET record_lengths = ${lengths} WHERE organization_id = 'north'`,
        );
        reseal(path);
        expectRefused(path, reason);
      }
    });

    it('a column of more than 16 MiB', () => {
      const path = snapshot.copy();
      alterRuns(path, 'offers', setElement('event_ids', 0, ['x'.repeat(2 ** 24)]), 'north');
      reseal(path);
      expectRefused(
        path,
        'offer_runs has no valid run of "north" at row 0: it is missing, or a column exceeds 16777216 bytes',
      );
    });

    it('records that are not UTF-8', () => {
      const path = snapshot.copyWith(
        `UPDATE ticket_runs SET records = CAST(replace(CAST(records AS BLOB), 'JPY', x'4affff') AS TEXT)`,
      );
      reseal(path);
      expectRefused(path, 'the records of ticket_runs at row 0 are not UTF-8');
    });

    it('wrong counts in "runs"', () => {
      const north = "organization_id = 'north' AND collection = 'orders'";
      for (const [change, reason] of [
        [
          'record_bytes = record_bytes + 1',
          /^the records of order_runs have \d+ bytes at row 0, "runs" declares \d+$/,
        ],
        [
          'record_bytes = record_bytes - 1',
          /^the records of order_runs have \d+ bytes at row 0, "runs" declares \d+$/,
        ],
        ['record_count = record_count + 1', /^the content of organization "north" does not match its digest/],
      ] as const) {
        const path = snapshot.copyWith(`UPDATE runs SET ${change} WHERE ${north}`);
        restamp(path);
        expectRefused(path, reason);
      }
    });
  });

  it('is read after a change with recomputed digests', () => {
    const path = snapshot.copy();
    alterRuns(
      path,
      'tickets',
      (run) => {
        replaceInRecords('"north-7"', '"new"')(run);
        const { qr_code: codes } = run.columns;
        for (const [i, code] of codes.entries()) if (code === 'north-7') codes[i] = 'new';
      },
      'north',
    );
    expectRefused(path, /does not match its digest/);
    reseal(path);
    const changed = readSnapshot(path);
    const north = organizationOf(changed, 'north');
    expect(recordsOf(north.tickets).get('tkt_7')).to.include({ qrCode: 'new' });
    expect(digestsOf(changed)['south']).to.equal(digestsOf(snapshot.image)['south']);
    expect(north.contentDigest).to.not.equal(digestsOf(snapshot.image)['north']);
  });

  it('may have organizations with fewer records, or with none', () => {
    const path = snapshot.copyWith(
      "INSERT INTO organizations VALUES ('east', 'Est', '', ''); INSERT INTO organizations VALUES ('west', 'Ouest', '', '')",
    );
    alterRuns(path, 'tickets', keepFirst(7), 'south');
    alterRuns(path, 'orders', keepFirst(0), 'north');
    reseal(path);
    const image = readSnapshot(path);
    expect(
      image.organizations.map(({ organizationId, tickets, orders }) => [
        organizationId,
        tickets.count,
        orders.count,
      ]),
    ).to.deep.equal([
      ['east', 0, 0],
      ['north', 60, 0],
      ['south', 7, 9],
      ['west', 0, 0],
    ]);
  });
});
