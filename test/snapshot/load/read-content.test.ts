import { expect } from 'chai';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { setDeletions } from '../../support/deletions.ts';
import { inspectSnapshot } from '../../../src/snapshot/format/open-snapshot.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { alterRecords, keepFirst, type ListContent, replaceInRecords } from '../../support/alter-records.ts';
import {
  type Collection,
  COLLECTIONS,
  columnsOf,
  isListColumn,
  reseal,
  restamp,
} from '../../support/digests.ts';
import { builtFrom, PRODUCED_AT } from '../../support/import-folder.ts';
import { inOrganization, minimalEvent, minimalSession, recordsIn, times } from '../../support/records.ts';
import { expectRefused, SoundSnapshot } from '../../support/sound-snapshot.ts';
import { collectionOf } from '../../../src/store/organization-image.ts';

describe('The content of a snapshot', () => {
  const snapshot = new SoundSnapshot();

  const damaged = (list: string) =>
    `the ${list} of organization "south" do not match their digest: the file is damaged; copy or build it again`;
  describe('is refused after a change:', () => {
    for (const collection of COLLECTIONS) {
      const first = `row = (SELECT min(row) FROM ${collection} WHERE organization_id = 'south')`;
      const missing = new RegExp(
        `^${collection} has \\d+ of the \\d+ rows of "south" that "lists" declares, each of at most \\d+ bytes$`,
      );

      for (const [statement, reason] of [
        [`DELETE FROM ${collection} WHERE ${first}`, missing],
        [`UPDATE ${collection} SET organization_id = 'west' WHERE ${first}`, missing],
        [`UPDATE ${collection} SET record = record || '${' '.repeat(9000)}' WHERE ${first}`, missing],
        [
          `UPDATE ${collection} SET row = 999 WHERE row = (SELECT max(row) FROM ${collection})`,
          new RegExp(`^the rows of ${collection} are 1 to 999, but "lists" declares \\d+$`),
        ],
        [
          `UPDATE ${collection} SET row = 0 WHERE row = 1`,
          new RegExp(`^the rows of ${collection} are 0 to \\d+, but "lists" declares \\d+$`),
        ],
      ] as const) {
        it(statement, () => {
          expectRefused(snapshot.copyWith(statement), reason);
        });
      }

      for (const column of [...columnsOf(collection), 'record']) {
        it(`${collection}.${column} with another value`, () => {
          const isInstant = column.endsWith('_at') || column === 'starts';
          const texts = isListColumn(column)
            ? ['\'["x"]\'', "'[]'"]
            : [`replace(${column}, substr(${column}, -3, 1), '?')`, `substr(${column}, 2)`, "''"];
          for (const value of isInstant ? [`${column} + 1`, '-1'] : texts)
            expectRefused(
              snapshot.copyWith(`UPDATE ${collection} SET ${column} = ${value} WHERE ${first}`),
              damaged(collection),
            );
        });
      }
    }

    it('two exchanged records', () => {
      const swapped = 'UPDATE tickets SET row = CASE row WHEN 70 THEN -71 ELSE -70 END WHERE row IN (70, 71)';
      expectRefused(
        snapshot.copyWith(swapped, 'UPDATE tickets SET row = -row WHERE row < 0'),
        damaged('tickets'),
      );
    });

    const missing = /^tickets has 59 of the 60 rows of "north"/;
    const noBlob = /^SQLite cannot read it: JSON cannot hold BLOB values/;
    const otherType = /^a row of tickets from record 0 on has a value of another type$/;
    for (const [column, value, reason] of [
      ...['organization_id', 'ticket_id', 'qr_code', 'record'].map((one) => [one, 'NULL', missing] as const),
      ['organization_id', "x'6e6f727468'", missing],
      ['ticket_id', "x'74'", noBlob],
      ['qr_code', "x'ff'", noBlob],
      ['updated_at', "x'31'", noBlob],
      ['updated_at', 'NULL', /^the tickets of organization "north" do not match their digest/],
      ['qr_code', '1', otherType],
      ['updated_at', "'1'", otherType],
      ['changed_at', '1.5', otherType],
      ['record', '1', /^record 0 of tickets does not end with }$/],
    ] as const)
      it(`${value} in column ${column} of tickets, where no writer of SQLite puts it`, () => {
        const declaration = new RegExp(`^  ${column} +(TEXT|INTEGER) +NOT NULL`, 'm');
        const [declared] = declaration.exec(snapshot.schema.split('CREATE TABLE tickets')[1]) ?? [''];
        const redeclared = (from: string, to: string) =>
          `UPDATE sqlite_schema SET sql = replace(sql, '${from}', '${to}') WHERE name = 'tickets'`;
        const path = snapshot.copyWith(
          `PRAGMA writable_schema = ON; ${redeclared(declared, `  ${column} ANY`)}; PRAGMA writable_schema = RESET`,
          `UPDATE tickets SET ${column} = ${value} WHERE row = 1`,
          `PRAGMA writable_schema = ON; ${redeclared(`  ${column} ANY`, declared)}`,
        );
        if (reason === otherType || value === '1') reseal(path);
        expectRefused(path, reason);
      });
  });

  describe('is refused for deletions', () => {
    const TIME = '2026-11-01T00:00:00.000Z';

    it('that were changed, added or removed', () => {
      for (const statement of [
        "UPDATE deletions SET deleted_at = deleted_at + 1 WHERE id = 'gone_2'",
        "DELETE FROM deletions WHERE id = 'gone_2'",
        "INSERT INTO deletions VALUES ('north', 'tickets', 'gone_3', 1)",
      ])
        expectRefused(
          snapshot.copyWith(statement),
          /^the deletions of organization "north" do not match their digest/,
        );
    });

    const LATER = '2027-01-01T00:00:00Z';
    const noTime = `has the time ${Date.parse(LATER) * 1000}, which is not that of a snapshot up to this one`;
    for (const [collection, id, deletedAt, reason] of [
      ['forms', 'gone', TIME, 'is of no collection'],
      ['tickets', '', TIME, 'has no id'],
      ['tickets', 'tkt_7', TIME, 'is of a record that the snapshot holds'],
      ['tickets', 'gone', LATER, noTime],
    ] as const) {
      it(`one of which ${reason}`, () => {
        const path = snapshot.copy();
        setDeletions(path, { north: [{ collection, id, deletedAt }] });
        expectRefused(path, `the deletion of "${id}" of ${collection} ${reason}`);
      });
    }
  });

  describe('is refused for times of changes', () => {
    const sealedWithTimes = (value: string) => {
      const path = snapshot.copyWith(`UPDATE tickets SET changed_at = ${value} WHERE row = 4`);
      reseal(path);
      return path;
    };

    it('that are not the time of a snapshot of the history', () => {
      const since = PRODUCED_AT.getTime() * 1000;
      for (const time of [since + 1, 2 ** 53])
        expectRefused(
          sealedWithTimes(String(time)),
          `record 3 of tickets has changed at ${time}, which is not the time of an earlier snapshot, or of this one`,
        );
    });

    it('but not for those before the history', () => {
      const [{ history }] = readSnapshot(sealedWithTimes('-5')).organizations;
      expect(history.changes.tickets.changed.rows).to.have.length(0);
    });
  });

  describe('is refused for a contradiction under matching digests:', () => {
    type Alter = (content: ListContent) => unknown;
    const setRecord =
      (i: number, change: (record: string) => string) =>
      ({ records }: ListContent) => {
        records[i] = change(records[i]);
      };
    const replaceIn = (i: number, found: string | RegExp, by: string) =>
      setRecord(i, (record) => record.replace(found, by));
    const setElement =
      (column: string, i: number, element: unknown) =>
      ({ columns }: ListContent) => {
        columns[column][i] = element;
      };
    const otherType = (list: string) => `a row of ${list} from record 0 on has a value of another type`;

    /** By list and reason, a pattern, the contradictions in the list. */
    const CONTRADICTIONS: Readonly<Record<Collection, Readonly<Record<string, readonly Alter[]>>>> = {
      tickets: {
        'tickets holds ticketId "tkt_56" twice': [
          ({ records, columns }) => {
            records[50] = records[3];
            columns['ticket_id'][50] = columns['ticket_id'][3];
          },
        ],
        'column order_id of tickets holds an empty id for record 7': [setElement('order_id', 7, '')],
        'record 3 of tickets exceeds 1048576 bytes': [replaceIn(3, '"JPY"', `"${'x'.repeat(2 ** 20)}"`)],
        'record 2 of tickets does not begin with its ticketId': [setRecord(2, (record) => ` ${record}`)],
        'record 2 of tickets does not end with }': [setRecord(2, () => '')],
      },
      orders: {
        'orders holds orderId "o\n8" twice': [
          (content) => {
            replaceInRecords('"ord_', '"o\\n')(content);
            content.records[1] = content.records[0];
            const { order_id: ids } = content.columns;
            for (const [i, id] of ids.entries()) ids[i] = String(id).replace('ord_', 'o\n');
            ids[1] = ids[0];
          },
        ],
        'record 0 of orders does not begin with its orderId': [
          // An escape that the id does not need, half of a surrogate pair, no text, and no end.
          ...['"\\u006frd_8"', '"\\ud800"', '""', '8'].map((id) => replaceIn(0, '"ord_8"', id)),
          ({ records }) => {
            records[0] = '{"orderId":"ord\\"}';
            records[1] = `{"orderId":"${records[1].slice('{"orderId":"'.length)}`;
          },
        ],
        'record 8 of orders does not begin with its orderId': [
          setRecord(8, () => '{"orderId":"ord_}'),
          setRecord(8, () => '{"orderId":"ord\\n_}'),
        ],
      },
      events: {
        'record 1 of events is not an event in its stored form': [
          replaceIn(1, ',"title":', ',"title"'),
          replaceIn(1, /("updatedAt":"[^T]+T..:..)[^"]+/, '$1Z'),
          replaceIn(1, /("lastSessionStartAt":"[^"]+):/, '$1'),
        ],
        'record 1 of events does not end with }': [setRecord(1, (record) => record.slice(0, -1))],
        [otherType('events')]: [
          setElement('tags', 0, 'jazz'),
          setElement('tags', 0, null),
          setElement('tags', 0, [1]),
        ],
        'record \\d of sessions is a session of "evt_\\d", which is not an event of the organization': [
          (content) => {
            replaceInRecords('"evt_', '"evt-')(content);
            const { event_id: ids } = content.columns;
            for (const [i, id] of ids.entries()) ids[i] = String(id).replace('_', '-');
          },
        ],
      },
      offers: {
        'record 0 of offers is not an offer in its stored form': [
          replaceIn(0, /,"pricing":\[.*?\]/, ''),
          replaceIn(0, /(,"vatRate":0)(.*)(\})$/, '$2$1$3'),
          replaceIn(0, /("createdAt":"[^T]+T..:..)[^"]+/, '$1+01:00'),
        ],
        'record \\d of offers is not an offer in its stored form': [
          replaceInRecords('"type":"TICKET"', '"type":"PRODUCT"'),
        ],
        'column resale_enabled of offers holds a text of record 0 twice': [
          setElement('resale_enabled', 0, ['true', 'true']),
        ],
      },
      sessions: {
        'sessions holds id "ses_\\d" twice': [
          ({ records, columns }) => {
            records[9] = records[0];
            columns['session_id'][9] = columns['session_id'][0];
          },
        ],
        'record 0 of events has no session': [
          ({ columns }) => {
            columns['event_id'].fill(columns['event_id'][9]);
            columns['starts'].sort();
          },
        ],
        'record 9 of sessions is a session of "evt_7", which is not an event of the organization': [
          setElement('event_id', 9, 'evt_7'),
        ],
        'record \\d of sessions is out of order': [({ columns }) => columns['event_id'].reverse()],
        'record 1 of sessions is out of order': [({ columns }) => columns['starts'].reverse()],
        'record 3 of sessions is not a session in its stored form': [replaceIn(3, '"startAt":', '"startAt"')],
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
          `record 2 of ${collection} is not ${collection === 'tickets' ? 'a ticket' : 'an order'} in its stored form`,
        );
      });

    const orders = (change: string) =>
      `UPDATE lists SET ${change} WHERE organization_id = 'south' AND collection = 'orders'`;
    const more = 'the orders of "south" have more bytes or elements than declared';
    for (const [statement, reason, seal] of [
      [
        `UPDATE tickets SET record = CAST(replace(CAST(record AS BLOB), 'JPY', x'4affff') AS TEXT)`,
        'the records of tickets from record 0 on are not UTF-8',
        reseal,
      ],
      ...['record_bytes', 'text_bytes', 'list_elements'].map(
        (column) => [orders(`${column} = ${column} - 1`), more, restamp] as const,
      ),
      ...['record_bytes', 'text_bytes', 'list_elements'].map(
        (column) =>
          [
            orders(`${column} = ${column} + 1`),
            'the orders of "south" have fewer bytes or elements than declared',
            restamp,
          ] as const,
      ),
      [
        'UPDATE tickets SET row = -row WHERE row IN (30, 91); UPDATE tickets SET row = row + 121 WHERE row < 0',
        /^tickets has 59 of the 60 rows of "north"/,
        reseal,
      ],
      [orders('longest_row = longest_row - 1'), /^orders has \d+ of the \d+ rows of "south"/, restamp],
      [
        orders('record_count = record_count + 1, row_count = row_count + 1'),
        /^the rows of orders are/,
        restamp,
      ],
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

  it('has these digests whatever characters its ids and texts have, and a successor has its sums', async () => {
    const odd = '\b\t\n\v\f\r\u0000\u001f"\'\\/\u007f\u0080\u2028\u2029\ufeff\uffff\u{1f3ad}';
    const folder = (name: string) => snapshot.file(`odd-texts-${name}`);
    const { event, session, ticket, order, offer } = recordsIn('north');
    const fields = { eventId: odd, eventSessionId: odd, orderId: odd, qrCode: odd };
    const { file: base } = await builtFrom(folder('base'), {
      organizations: [{ organizationId: 'north', name: odd }],
      events: [event(odd, { tags: [odd, `1${odd}`] })],
      sessions: [session(odd, odd)],
      tickets: times(300, (i) => ticket(`${i}${odd}`, { ...fields, offerName: 'x'.repeat(4000) })),
      orders: [
        order(odd, {
          customer: { customerId: '', email: odd },
          placedItems: [{ eventId: odd }],
        }),
      ],
      offers: [offer(odd, 'TICKET', { eventId: odd }), offer(`${odd}1`, 'BUNDLE', { heldByEventIds: [odd] })],
    });
    const { file } = await builtFrom(
      folder('next'),
      {
        tickets: [ticket(`1${odd}`, { ...fields, qrCode: `${odd}1` }), ticket(`new${odd}`, fields)],
        deletions: [{ organizationId: 'north', collection: 'tickets', id: `2${odd}` }],
      },
      { base, producedAt: new Date(PRODUCED_AT.getTime() + 1) },
    );
    for (const path of [base, file]) {
      const manifest = inspectSnapshot(path);
      reseal(path);
      expect(inspectSnapshot(path)).to.deep.equal(manifest);
      readSnapshot(path, { isThorough: true });
    }
    // The load computes the sum from the columns in memory, and the builder from those in the file.
    const known = readSnapshot(base).organizations.map(({ organizationId, lists, history }) => ({
      ...{ organizationId, image: lists.tickets, stays: false, history },
    }));
    let read = 0;
    readSnapshot(file, { admit: () => ({ known }), onProgress: (records) => (read = records) });
    expect(read).to.equal(305);
  });

  it('may have organizations with fewer records, or with none', () => {
    const path = snapshot.copyWith(
      "INSERT INTO organizations SELECT column1, column2, since, '' FROM (VALUES ('east', 'Est'), ('west', 'Ouest')), organizations WHERE organization_id = 'north'",
    );
    alterRecords(path, 'tickets', keepFirst(7), 'south');
    alterRecords(path, 'orders', keepFirst(0), 'north');
    reseal(path);
    const counts = readSnapshot(path).organizations.map(
      (image) =>
        `${image.organizationId} ${collectionOf(image, 'tickets').count} ${collectionOf(image, 'orders').count}`,
    );
    expect(counts).to.deep.equal(['east 0 0', 'north 60 0', 'south 7 9', 'west 0 0']);
  });
});
