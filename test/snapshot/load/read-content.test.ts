import Database from 'better-sqlite3';
import { expect } from 'chai';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { inspectSnapshot } from '../../../src/snapshot/load/read-snapshot.ts';
import { setDeletions } from '../../support/deletions.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { alterRuns, keepFirst, replaceInRecords, type RunContent } from '../../support/alter-runs.ts';
import {
  contentColumnsOf,
  reseal,
  restamp,
  RUN_TABLES,
  COLLECTIONS,
  type Collection,
} from '../../support/digests.ts';
import { digestsOf, organizationOf, recordsOf, PRODUCED_AT } from '../../support/import-folder.ts';
import { expectRefused, SoundSnapshot } from '../../support/sound-snapshot.ts';
import { collectionOf } from '../../../src/store/organization-image.ts';

describe('The content of a snapshot', () => {
  const snapshot = new SoundSnapshot();

  describe('is refused after a change:', () => {
    for (const collection of COLLECTIONS) {
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

  describe('is refused for deletions', () => {
    const TIME = '2026-11-01T00:00:00.000Z';
    const withDeletion = (collection: string, id: string, deletedAt = TIME) => {
      const path = snapshot.copy();
      setDeletions(path, { north: [{ collection, id, deletedAt }] });
      return path;
    };

    it('that were changed, added or removed', () => {
      const damaged = /^the history of organization "north" does not match its digest/;
      for (const statement of [
        "UPDATE deletions SET deleted_at = '2026-11-01T00:00:00.001Z' WHERE id = 'gone_2'",
        "DELETE FROM deletions WHERE id = 'gone_2'",
        `INSERT INTO deletions VALUES ('north', 'tickets', 'gone_3', '${TIME}')`,
      ])
        expectRefused(snapshot.copyWith(statement), damaged);
    });

    it('of no collection, of no id, of a record of the snapshot, and at no time of a snapshot', () => {
      const of = 'the deletion of "gone" of tickets';
      expectRefused(withDeletion('forms', 'gone'), 'the deletion of "gone" of forms is of no collection');
      expectRefused(withDeletion('tickets', ''), 'the deletion of "" of tickets has no id');
      expectRefused(
        withDeletion('tickets', 'tkt_7'),
        'the deletion of "tkt_7" of tickets is of a record that the snapshot holds',
      );
      for (const time of ['2026-11-31T00:00:00Z', '2026-11-01T00:00:00+00:00', '2027-01-01T00:00:00Z', ''])
        expectRefused(
          withDeletion('tickets', 'gone', time),
          `${of} has the time "${time}", which is not that of a snapshot up to this one`,
        );
    });
  });

  describe('is refused for changes', () => {
    const TICKETS = "WHERE organization_id = 'north' AND first_row = 0";
    const withTimes = (value: string) => {
      const path = snapshot.copyWith(`UPDATE ticket_runs SET changed_at = ${value} ${TICKETS}`);
      reseal(path);
      return path;
    };

    it('that do not match their digest', () => {
      expectRefused(
        snapshot.copyWith(
          `UPDATE ticket_runs SET changed_at = replace(changed_at, '2026', '2025') ${TICKETS}`,
        ),
        /^the history of organization "north" does not match its digest: tickets from row 0 to 59/,
      );
    });

    it('that are not one time of a snapshot for each record', () => {
      expectRefused(
        withTimes("replace(changed_at, ']', ',0]')"),
        'column changed_at of ticket_runs is not a JSON array with one text for each record at row 0',
      );
      for (const time of ['2027-01-01T00:00:00Z', '2026-11-01T00:00:00+00:00', 'today'])
        expectRefused(
          withTimes(`replace(changed_at, '${PRODUCED_AT.toISOString()}', '${time}')`),
          `column changed_at of ticket_runs holds "${time}" at row 0, which is not the time of an earlier snapshot, or of this one`,
        );
    });

    it('but not when they are not declared', () => {
      const [{ history }] = readSnapshot(withTimes("''")).organizations;
      expect(history.changes.tickets.changed.rows).to.have.length(0);
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
    /** By list and reason, a pattern, the contradictions in the list. */
    const CONTRADICTIONS: Readonly<Record<Collection, Readonly<Record<string, Record<string, Alter>>>>> = {
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
    };
    /** Returns the path of a copy with an altered list of "north", and recomputed digests. */
    function sealed(collection: Collection, alter: Alter): string {
      const path = snapshot.copy();
      alterRuns(path, collection, alter, 'north');
      reseal(path);
      return path;
    }
    for (const collection of COLLECTIONS) {
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
    expect(digestsOf(changed)['north']).to.not.equal(digestsOf(snapshot.image)['north']);
  });

  it('may have organizations with fewer records, or with none', () => {
    const path = snapshot.copyWith(
      "INSERT INTO organizations SELECT column1, column2, '', since, '' FROM (VALUES ('east', 'Est'), ('west', 'Ouest')), organizations WHERE organization_id = 'north'",
    );
    alterRuns(path, 'tickets', keepFirst(7), 'south');
    alterRuns(path, 'orders', keepFirst(0), 'north');
    reseal(path);
    const counts = readSnapshot(path).organizations.map(
      (image) =>
        `${image.organizationId} ${collectionOf(image, 'tickets').count} ${collectionOf(image, 'orders').count}`,
    );
    expect(counts).to.deep.equal(['east 0 0', 'north 60 0', 'south 7 9', 'west 0 0']);
  });
});
