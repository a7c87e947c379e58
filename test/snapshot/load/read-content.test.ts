import Database from 'better-sqlite3';
import { expect } from 'chai';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
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
import { builtFrom, PRODUCED_AT } from '../../support/import-folder.ts';
import { inOrganization, minimalEvent, minimalSession } from '../../support/records.ts';
import { expectRefused, SoundSnapshot } from '../../support/sound-snapshot.ts';
import { collectionOf } from '../../../src/store/organization-image.ts';

describe('The content of a snapshot', () => {
  const snapshot = new SoundSnapshot();

  const damaged = (organizationId: string, rows: string) =>
    new RegExp(
      `^the content of organization "${organizationId}" does not match its digest: ${rows}; ` +
        'the file is damaged; copy or build it again$',
    );
  describe('is refused after a change:', () => {
    for (const collection of COLLECTIONS) {
      const table = RUN_TABLES[collection];
      const first = "organization_id = 'south' AND first_row = 0";
      // An offer of the import begins a run by its id.
      const count = collection === 'offers' ? 4 : 2;
      const missing =
        'has no valid run of "south" at row 0: it is missing, or a column is NULL or exceeds 16777216 bytes';

      for (const [statement, reason] of [
        [`DELETE FROM ${table} WHERE ${first}`, missing],
        [
          `CREATE TEMP TABLE copied AS SELECT * FROM ${table} WHERE ${first}; UPDATE copied SET first_row = 99;
           INSERT INTO ${table} SELECT * FROM copied`,
          `has more than ${count} rows, but "runs" declares ${count} for ${collection}`,
        ],
        [`UPDATE ${table} SET first_row = 99 WHERE ${first}`, missing],
        [`UPDATE ${table} SET organization_id = 'west' WHERE ${first}`, missing],
      ]) {
        it(statement, () => {
          expectRefused(snapshot.copyWith(statement), `${table} ${reason}`);
        });
      }

      for (const column of contentColumnsOf(new Database(':memory:').exec(snapshot.schema), table)) {
        it(`${table}.${column} with another byte, length or type`, () => {
          const other = `replace(${column}, substr(${column}, -3, 1), '?')`;
          for (const value of [other, `${column} || ' '`, `substr(${column}, 2)`, "''", "x'ff'"])
            expectRefused(
              snapshot.copyWith(`UPDATE ${table} SET ${column} = CAST(${value} AS TEXT) WHERE ${first}`),
              damaged('south', `${collection} from row 0 to \\d+`),
            );
        });
      }
    }

    it('two exchanged runs', () => {
      const ids = [
        "CASE organization_id WHEN 'north' THEN 'south!' ELSE 'north!' END",
        "rtrim(organization_id, '!')",
      ];
      expectRefused(
        snapshot.copyWith(...ids.map((id) => `UPDATE ticket_runs SET organization_id = ${id}`)),
        damaged('north', 'tickets .*'),
      );
    });

    it('NULL in a column that has no NULL', () => {
      const redeclared = (from: string, to: string) =>
        `UPDATE sqlite_schema SET sql = replace(sql, '${from}', '${to}') WHERE name = 'ticket_runs'`;
      const declared = 'qr_code          TEXT    NOT NULL';
      const path = snapshot.copyWith(
        `PRAGMA writable_schema = ON; ${redeclared(declared, 'qr_code ANY')}; PRAGMA writable_schema = RESET`,
        'UPDATE ticket_runs SET qr_code = NULL',
        `PRAGMA writable_schema = ON; ${redeclared('qr_code ANY', declared)}`,
      );
      expectRefused(path, /^ticket_runs has no valid run of "north" at row 0: .* a column is NULL/);
    });
  });

  describe('is refused for deletions', () => {
    const TIME = '2026-11-01T00:00:00.000Z';

    it('that were changed, added or removed', () => {
      for (const statement of [
        "UPDATE deletions SET deleted_at = '2026-11-01T00:00:00.001Z' WHERE id = 'gone_2'",
        "DELETE FROM deletions WHERE id = 'gone_2'",
        `INSERT INTO deletions VALUES ('north', 'tickets', 'gone_3', '${TIME}')`,
      ])
        expectRefused(
          snapshot.copyWith(statement),
          /^the history of organization "north" does not match its digest/,
        );
    });

    const noTime = (time: string) => `has the time "${time}", which is not that of a snapshot up to this one`;
    for (const [collection, id, deletedAt, reason] of [
      ['forms', 'gone', TIME, 'is of no collection'],
      ['tickets', '', TIME, 'has no id'],
      ['tickets', 'tkt_7', TIME, 'is of a record that the snapshot holds'],
      ...['2026-11-31T00:00:00Z', '2026-11-01T00:00:00+00:00', '2027-01-01T00:00:00Z', ''].map(
        (time) => ['tickets', 'gone', time, noTime(time)] as const,
      ),
    ] as const) {
      it(`one of which ${reason}`, () => {
        const path = snapshot.copy();
        setDeletions(path, { north: [{ collection, id, deletedAt }] });
        expectRefused(path, `the deletion of "${id}" of ${collection} ${reason}`);
      });
    }
  });

  describe('is refused for times of changes', () => {
    const withTimes = (value: string) =>
      `UPDATE ticket_runs SET changed_at = ${value} WHERE organization_id = 'north' AND first_row = 0`;
    const sealedWithTimes = (value: string) => {
      const path = snapshot.copyWith(withTimes(value));
      reseal(path);
      return path;
    };

    it('that do not match their digest', () => {
      expectRefused(
        snapshot.copyWith(withTimes("replace(changed_at, '2026', '2025')")),
        /^the history of organization "north" does not match its digest: tickets from row 0 to 59/,
      );
    });

    it('that are not one time of a snapshot for each record', () => {
      const column = 'column changed_at of ticket_runs';
      expectRefused(
        sealedWithTimes("replace(changed_at, ']', ',0]')"),
        `${column} is not a JSON array with one text for each record at row 0`,
      );
      for (const time of ['2027-01-01T00:00:00Z', '2026-11-01T00:00:00+00:00', 'today'])
        expectRefused(
          sealedWithTimes(`replace(changed_at, '${PRODUCED_AT.toISOString()}', '${time}')`),
          `${column} holds "${time}" at row 0, which is not the time of an earlier snapshot, or of this one`,
        );
    });

    it('but not when none is declared', () => {
      const [{ history }] = readSnapshot(sealedWithTimes("''")).organizations;
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
    const notArray = (column: string, elements: string) =>
      `column ${column} is not a JSON array with one ${elements} for each record at row 0`;

    /** By list and reason, a pattern, the contradictions in the list. */
    const CONTRADICTIONS: Readonly<Record<Collection, Readonly<Record<string, readonly Alter[]>>>> = {
      tickets: {
        'ticket_runs holds ticketId "tkt_56" twice': [({ records }) => (records[50] = records[3])],
        'column order_id of ticket_runs holds an empty id for record 7': [setElement('order_id', 7, '')],
        'record 3 of ticket_runs exceeds 1048576 bytes': [replaceIn(3, '"JPY"', `"${'x'.repeat(2 ** 20)}"`)],
        'record 2 of ticket_runs does not begin with its ticketId': [setRecord(2, (record) => ` ${record}`)],
        'record 2 of ticket_runs does not end with }': [setRecord(2, () => '')],
        [notArray('qr_code of ticket_runs', 'text')]: [({ columns }) => columns['qr_code'].pop()],
        [notArray('updated_at of ticket_runs', 'whole number')]: [
          ({ columns }) => columns['updated_at'].push(0),
        ],
      },
      orders: {
        'order_runs holds orderId "o\n8" twice': [
          (run) => {
            replaceInRecords('"ord_', '"o\\n')(run);
            run.records[1] = run.records[0];
          },
        ],
        'record 0 of order_runs does not begin with its orderId': [
          // An escape that the id does not need, half of a surrogate pair, no text, and no end.
          ...['"\\u006frd_8"', '"\\ud800"', '""', '8'].map((id) => replaceIn(0, '"ord_8"', id)),
          ({ records }) => {
            records[0] = '{"orderId":"ord\\"}';
            records[1] = `{"orderId":"${records[1].slice('{"orderId":"'.length)}`;
          },
        ],
        'record 8 of order_runs does not begin with its orderId': [
          setRecord(8, () => '{"orderId":"ord_}'),
          setRecord(8, () => '{"orderId":"ord\\n_}'),
        ],
      },
      events: {
        'record 1 of event_runs is not an event in its stored form': [
          replaceIn(1, ',"title":', ',"title"'),
          replaceIn(1, /("updatedAt":"[^T]+T..:..)[^"]+/, '$1Z'),
          replaceIn(1, /("lastSessionStartAt":"[^"]+):/, '$1'),
        ],
        'record 1 of event_runs does not end with }': [setRecord(1, (record) => record.slice(0, -1))],
        [notArray('tags of event_runs', 'list of texts')]: [setElement('tags', 0, 'jazz')],
        'record \\d of session_runs is a session of "evt_\\d", which is not an event of the organization': [
          replaceInRecords('"evt_', '"evt-'),
        ],
      },
      offers: {
        'record 0 of offer_runs is not an offer in its stored form': [
          replaceIn(0, /,"pricing":\[.*?\]/, ''),
          replaceIn(0, /(,"vatRate":0)(.*)(\})$/, '$2$1$3'),
          replaceIn(0, /("createdAt":"[^T]+T..:..)[^"]+/, '$1+01:00'),
        ],
        'record \\d of offer_runs is not an offer in its stored form': [
          replaceInRecords('"type":"TICKET"', '"type":"PRODUCT"'),
        ],
        'column resale_enabled of offer_runs holds a text of record 0 twice': [
          setElement('resale_enabled', 0, ['true', 'true']),
        ],
        'offer_runs has no valid run of "north" at row 0: it is missing, or a column is NULL or exceeds 16777216 bytes':
          [setElement('event_ids', 0, ['x'.repeat(2 ** 24)])],
      },
      sessions: {
        'session_runs holds id "ses_\\d" twice': [({ records }) => (records[9] = records[0])],
        'record 0 of event_runs has no session': [
          ({ columns }) => {
            columns['event_id'].fill(columns['event_id'][9]);
            columns['starts'].sort();
          },
        ],
        'record 9 of session_runs is a session of "evt_7", which is not an event of the organization': [
          setElement('event_id', 9, 'evt_7'),
        ],
        'record \\d of session_runs is out of order': [({ columns }) => columns['event_id'].reverse()],
        'record 1 of session_runs is out of order': [({ columns }) => columns['starts'].reverse()],
        'record 3 of session_runs is not a session in its stored form': [
          replaceIn(3, '"startAt":', '"startAt"'),
        ],
        [notArray('starts of session_runs', 'whole number')]: [setElement('starts', 0, '0')],
        [notArray('event_id of session_runs', 'text')]: [setElement('event_id', 0, null)],
      },
    };
    for (const collection of COLLECTIONS) {
      for (const [reason, alterations] of Object.entries(CONTRADICTIONS[collection])) {
        it(reason, () => {
          for (const alter of alterations)
            expectRefused(snapshot.altered(collection, alter), new RegExp(`^${reason}$`));
        });
      }
    }

    for (const [what, collection, found, replacement] of [
      ['a ticket that is not JSON', 'tickets', ',"currency":', ',"currency"'],
      ['an order that is not JSON', 'orders', ',"currency":', ',"currency"'],
      ['a ticket whose time has no seconds', 'tickets', /("updatedAt":"[^T]+T..:..)[^"]+/, '$1Z'],
      ['an order whose offset has no colon', 'orders', /("createdAt":"[^"]+)Z/, '$1+0000'],
      ['a ticket without a field', 'tickets', ',"vat":', ',"tax":'],
    ] as const)
      it(`${what}, in a thorough check only`, () => {
        const path = snapshot.altered(collection, replaceIn(2, found, replacement));
        expect(readSnapshot(path).organizations).to.have.length(2);
        expect(() => readSnapshot(path, { isThorough: true })).to.throw(
          RefusedSnapshot,
          `record 2 of ${RUN_TABLES[collection]} is not ${collection === 'tickets' ? 'a ticket' : 'an order'} in its stored form`,
        );
      });

    const noLengths = /^column record_lengths of event_runs is not a JSON array with one length/;
    const otherBytes = /^the records of order_runs have \d+ bytes at row 0, "runs" declares \d+$/;
    const lengths = (found: string, by: string) =>
      `UPDATE event_runs SET record_lengths = replace(record_lengths, '${found}', '${by}') WHERE organization_id = 'north'`;
    const orders = (change: string) =>
      `UPDATE runs SET ${change} WHERE organization_id = 'north' AND collection = 'orders'`;
    for (const [statement, reason, seal] of [
      [lengths('[', '[1'), 'record 0 of event_runs differs from its declared length', reseal],
      [lengths(']', '0]'), 'record 3 of event_runs differs from its declared length', reseal],
      [lengths(']', '.5]'), noLengths, reseal],
      [lengths('[', '[-'), noLengths, reseal],
      [
        `UPDATE ticket_runs SET records = CAST(replace(CAST(records AS BLOB), 'JPY', x'4affff') AS TEXT)`,
        'the records of ticket_runs at row 0 are not UTF-8',
        reseal,
      ],
      [orders('record_bytes = record_bytes + 1'), otherBytes, restamp],
      [orders('record_bytes = record_bytes - 1'), otherBytes, restamp],
      [orders('record_count = record_count + 1'), damaged('north', 'orders .*'), restamp],
    ] as const) {
      it(statement, () => {
        const path = snapshot.copyWith(statement);
        seal(path);
        expectRefused(path, reason);
      });
    }
  });

  it('has the digests of docs/snapshot-format.md, also with names that need escapes, and sessions before 1970', async () => {
    const own = inOrganization('z');
    const { file, image } = await builtFrom(snapshot.file('odd'), {
      organizations: [{ organizationId: '"\\', name: '"\u0000\u0001\u2028é\ud800' }, { organizationId: 'z' }],
      events: [own(minimalEvent('\0"\n', { createdAt: '1960-01-01T00:00:00Z', currency: '' }))],
      sessions: [own(minimalSession('s', '\0"\n', { startAt: '0001-01-01T00:00:00.000001Z' }))],
    });
    reseal(file);
    expect(readSnapshot(file)).to.deep.equal(image);
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
