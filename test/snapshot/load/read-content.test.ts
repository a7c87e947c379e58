import Database from 'better-sqlite3';
import { expect } from 'chai';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { inspectSnapshot } from '../../../src/snapshot/load/read-snapshot.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
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
    type Alter = (run: RunContent) => unknown;
    const setRecord = (i: number, change: (record: string) => string) => (run: RunContent) => {
      run.records[i] = change(run.records[i]);
    };
    const replaceIn = (i: number, found: string | RegExp, by: string) =>
      setRecord(i, (record) => record.replace(found, by));
    const setElement = (column: string, i: number, element: unknown) => (run: RunContent) => {
      run.columns[column][i] = element;
    };
    const exchangeRecords = (i: number, j: number) => (run: RunContent) => {
      for (const values of [run.records, ...Object.values(run.columns)])
        [values[i], values[j]] = [values[j], values[i]];
    };
    /** By list and reason, a pattern, the contradictions in the list. */
    const CONTRADICTIONS: Readonly<Record<StoredList, Readonly<Record<string, Record<string, Alter>>>>> = {
      tickets: {
        'ticket_runs holds ticketId "tkt_56" twice': {
          'a repeated id': ({ records }) => (records[50] = records[3]),
        },
        'column order_id of ticket_runs holds an empty id for record 7': {
          'an empty id in a column': setElement('order_id', 7, ''),
        },
        'record 3 of ticket_runs exceeds 1048576 bytes': {
          'a record of more than 1 MiB': replaceIn(3, '"JPY"', `"${'x'.repeat(2 ** 20)}"`),
        },
        'record 2 of ticket_runs does not begin with its ticketId': {
          'a record that begins with something else': setRecord(2, (record) => ` ${record}`),
        },
        'record 2 of ticket_runs does not end with }': {
          'an empty record': setRecord(2, () => ''),
        },
        'column qr_code of ticket_runs is not a JSON array with one text for each record at row 0': {
          'a missing value': ({ columns }) => columns['qr_code'].pop(),
        },
        'column updated_at of ticket_runs is not a JSON array with one whole number for each record at row 0':
          {
            'an additional instant': ({ columns }) => columns['updated_at'].push(0),
          },
      },
      orders: {
        'order_runs holds orderId "o\n8" twice': {
          'a repeated id with an escape': (run) => {
            replaceInRecords('"ord_', '"o\\n')(run);
            run.records[1] = run.records[0];
          },
        },
        'record 0 of order_runs does not begin with its orderId': {
          'an id written with an escape that it does not need': replaceIn(0, '"ord_8"', '"\\u006frd_8"'),
          'an id with half of a surrogate pair': replaceIn(0, '"ord_8"', '"\\ud800"'),
          'an empty id': replaceIn(0, '"ord_8"', '""'),
          'an id that is not a text': replaceIn(0, '"ord_8"', '8'),
          'an id that ends in the next record': (run) => {
            run.records[0] = '{"orderId":"ord\\"}';
            run.records[1] = `{"orderId":"${run.records[1].slice('{"orderId":"'.length)}`;
          },
        },
        'record 8 of order_runs does not begin with its orderId': {
          'an id that does not end': setRecord(8, () => '{"orderId":"ord_}'),
          'an id that does not end after an escape': setRecord(8, () => '{"orderId":"ord\\n_}'),
        },
      },
      events: {
        'record 1 of event_runs is not an event in its stored form': {
          'an event that is not JSON': replaceIn(1, ',"title":', ',"title"'),
        },
        'record 1 of event_runs does not end with }': {
          'a record that does not end': setRecord(1, (record) => record.slice(0, -1)),
        },
        'column tags of event_runs is not a JSON array with one list of texts for each record at row 0': {
          'a text instead of a list': setElement('tags', 0, 'jazz'),
        },
      },
      offers: {
        'record 0 of offer_runs is not an offer in its stored form': {
          'an offer without its lists': replaceIn(0, /,"pricing":\[.*?\]/, ''),
          'an offer with its fields in another order': replaceIn(0, /(,"vatRate":0)(.*)(\})$/, '$2$1$3'),
        },
        'record \\d of offer_runs is not an offer in its stored form': {
          'an offer with a field that its type does not have': replaceInRecords(
            '"type":"TICKET"',
            '"type":"PRODUCT"',
          ),
        },
        'column resale_enabled of offer_runs holds a text of record 0 twice': {
          'a repeated value in the list of a record': setElement('resale_enabled', 0, ['true', 'true']),
        },
      },
      sessions: {
        'session_runs holds id "ses_\\d" twice': {
          'a repeated session id': ({ records }) => (records[9] = records[0]),
        },
        'record 0 of event_runs has no session': {
          'an event without a session': ({ columns }) => {
            columns['event_id'].fill(columns['event_id'][9]);
            columns['starts'].sort();
          },
        },
        'record 9 of session_runs is a session of "evt_7", which is not an event of the organization': {
          'a session of a missing event': setElement('event_id', 9, 'evt_7'),
        },
        'record \\d of session_runs is out of order': {
          'sessions out of event order': ({ columns }) => columns['event_id'].reverse(),
        },
        'record 1 of session_runs is out of order': {
          'sessions out of start order': ({ columns }) => columns['starts'].reverse(),
        },
        'record 3 of session_runs is not a session in its stored form': {
          'a session that is not JSON': replaceIn(3, '"startAt":', '"startAt"'),
        },
        'column starts of session_runs is not a JSON array with one whole number for each record at row 0': {
          'a start that is a text': setElement('starts', 0, '0'),
        },
        'column event_id of session_runs is not a JSON array with one text for each record at row 0': {
          'a session without an event': setElement('event_id', 0, null),
        },
      },
      deletions: {
        'record 0 of deletion_runs is not a deletion in its stored form': {
          'a deletion of no collection': replaceIn(0, 'tickets', 'forms'),
          'a deletion without an id': replaceIn(0, 'gone_2', ''),
          'a deletion whose id is not Unicode': replaceIn(0, 'gone_2', '\\ud800'),
          'a deletion with another field': replaceIn(0, '}', ',"by":"x"}'),
          'a deletion with white space': replaceIn(0, ',', ', '),
          'a deletion at a local time': replaceIn(0, 'Z"', '+00:00"'),
          'a deletion at a day that does not exist': replaceIn(0, /-\d\dT/, '-31T'),
        },
        'record 3 of deletion_runs does not begin with its collection': {
          'a deletion that does not begin with its collection': setRecord(
            3,
            () => '{"id":"gone","collection":"tickets","deletedAt":"2026-11-03T12:00:00Z"}',
          ),
        },
        'record \\d of deletion_runs differs from its columns': {
          'a deletion of another collection than its column': setElement('collection', 1, 'tickets'),
          'a deletion at another time than its column': setElement('deleted_at', 3, 0),
        },
        'record 1 of deletion_runs is out of order': {
          'deletions out of the order of their times': exchangeRecords(0, 1),
        },
        'record 2 of deletion_runs is out of order': {
          'deletions at one time out of the order of their collections': exchangeRecords(1, 2),
          'deletions at one time out of the order of their ids': replaceIn(2, 'gone_1', 'gone_0'),
          'a repeated deletion at one time': (run) => {
            run.records[1] = run.records[2];
            run.columns['collection'][1] = 'tickets';
          },
        },
        'deletion_runs holds the deletion of "gone_2" of tickets twice': {
          'a repeated deletion at another time': replaceIn(2, 'gone_1', 'gone_2'),
        },
        'record 0 of deletion_runs deletes "tkt_7" of tickets, which the snapshot holds': {
          'a deletion of a record that is there': replaceIn(0, 'gone_2', 'tkt_7'),
        },
        'column collection of deletion_runs is not a JSON array with one text for each record at row 0': {
          'a missing collection of a deletion': ({ columns }) => columns['collection'].pop(),
        },
      },
    };
    /** Returns the path of a copy with an altered list of "north", and recomputed digests. */
    function sealed(collection: StoredList, alter: Alter): string {
      const path = snapshot.copy();
      alterRuns(path, collection, alter, 'north');
      reseal(path);
      return path;
    }
    for (const collection of STORED_LISTS) {
      for (const [reason, cases] of Object.entries(CONTRADICTIONS[collection])) {
        for (const [what, alter] of Object.entries(cases)) {
          it(what, () => {
            expectRefused(sealed(collection, alter), new RegExp(`^${reason}$`));
          });
        }
      }
    }

    it('a ticket or order that is not JSON, in a thorough check only', () => {
      for (const collection of ['tickets', 'orders'] as const) {
        const path = sealed(collection, replaceIn(2, ',"currency":', ',"currency"'));
        expect(readSnapshot(path).organizations).to.have.length(2);
        expect(() => readSnapshot(path, { isThorough: true })).to.throw(
          RefusedSnapshot,
          `record 2 of ${RUN_TABLES[collection]} is not a JSON object`,
        );
        const runs = inspectSnapshot(path).organizations.flatMap(
          (organization) => organization.runs[collection],
        );
        const parsedRuns = new Set(runs.map(({ digest }) => digest));
        expect(readSnapshot(path, { isThorough: true, parsedRuns }).organizations).to.have.length(2);
      }
    });

    it('a session of an event of another organization', () => {
      const path = sealed('events', replaceInRecords('"evt_', '"evt-'));
      expectRefused(path, /is a session of "evt_\d", which is not an event of the organization$/);
    });

    it('records whose lengths differ from "record_lengths"', () => {
      const invalid = /^column record_lengths of event_runs is not a JSON array with one length/;
      for (const [found, by, reason] of [
        ['[', '[1', 'record 0 of event_runs differs from its declared length'],
        [']', '0]', 'record 3 of event_runs differs from its declared length'],
        [']', '.5]', invalid],
        ['[', '[-', invalid],
      ] as const) {
        const lengths = `replace(record_lengths, '${found}', '${by}')`;
        const path = snapshot.copyWith(
          `UPDATE event_runs SET record_lengths = ${lengths} WHERE organization_id = 'north'`,
        );
        reseal(path);
        expectRefused(path, reason);
      }
    });

    it('a column of more than 16 MiB', () => {
      expectRefused(
        sealed('offers', setElement('event_ids', 0, ['x'.repeat(2 ** 24)])),
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
      const otherBytes = /^the records of order_runs have \d+ bytes at row 0, "runs" declares \d+$/;
      for (const [change, reason] of [
        ['record_bytes = record_bytes + 1', otherBytes],
        ['record_bytes = record_bytes - 1', otherBytes],
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
      "INSERT INTO organizations SELECT column1, column2, '', since, '' FROM (VALUES ('east', 'Est'), ('west', 'Ouest')), organizations WHERE organization_id = 'north'",
    );
    alterRuns(path, 'tickets', keepFirst(7), 'south');
    alterRuns(path, 'orders', keepFirst(0), 'north');
    reseal(path);
    const counts = readSnapshot(path).organizations.map(
      ({ content: { organizationId, tickets, orders } }) =>
        `${organizationId} ${tickets.count} ${orders.count}`,
    );
    expect(counts).to.deep.equal(['east 0 0', 'north 60 0', 'south 7 9', 'west 0 0']);
  });
});
