import Database from 'better-sqlite3';
import { expect } from 'chai';
import { parseTimestamp } from '../../../src/contract/timestamp.ts';
import { COLLECTIONS } from '../../../src/snapshot/format/layout.ts';
import { organizationOf, textsOf } from '../../support/import-folder.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';
import { SoundSnapshot } from '../../support/sound-snapshot.ts';

/** The field of the record that a column holds. */
const FIELDS = {
  events: { event_id: 'id' },
  sessions: { session_id: 'id', starts: 'startAt' },
  tickets: {
    ...{ ticket_id: 'ticketId', event_id: 'eventId', event_session_id: 'eventSessionId' },
    ...{ order_id: 'orderId', qr_code: 'qrCode', updated_at: 'updatedAt' },
  },
  orders: { order_id: 'orderId', status: 'status', updated_at: 'updatedAt' },
  offers: { offer_id: 'offerId', type: 'type', created_at: 'createdAt' },
};

describe('The tables of a snapshot', () => {
  const snapshot = new SoundSnapshot();
  let database: Database.Database;
  const query = (sql: string) => database.prepare<[], Record<string, unknown>>(sql).all();

  before(() => {
    database = new Database(snapshot.path, { readonly: true });
    database.pragma('trusted_schema = OFF');
  });

  after(() => {
    database.close();
  });

  for (const { name } of COLLECTIONS) {
    it(`have a row for each record, in list order, with its exact text and values: ${name}`, () => {
      const rows = query(`SELECT * FROM ${name} ORDER BY row`);
      expect(rows.map(({ row }) => row)).to.deep.equal([...rows.keys()].map((i) => i + 1));
      const records = ['north', 'south'].flatMap((id) => textsOf(organizationOf(snapshot.image, id)[name]));
      expect(rows.map(({ record }) => record)).to.deep.equal(records);
      for (const row of rows) {
        const record = JSON.parse(String(row['record'])) as Record<string, unknown>;
        for (const [column, field] of Object.entries(FIELDS[name])) {
          const value = record[field];
          const isInstant = typeof row[column] === 'number';
          expect(row[column], column).to.equal(isInstant ? Number(parseTimestamp(String(value))) : value);
        }
      }
    });
  }

  it('have the events of sessions, and the addresses of orders', () => {
    for (const row of query("SELECT * FROM sessions WHERE organization_id = 'north'")) {
      const imported = SMALL_IMPORT.sessions.find(({ id }) => id === row['session_id']);
      expect(row['event_id']).to.equal(imported?.['eventId']);
    }
    for (const { email } of query('SELECT email FROM orders'))
      expect(email).to.match(/^name\d@example\.org$/);
  });

  it('have lists of distinct texts in ascending order', () => {
    const lists = (table: string, column: string) =>
      query(`SELECT ${column} AS list FROM ${table} WHERE organization_id = 'south' ORDER BY row`).map(
        ({ list }) => list,
      );
    expect(lists('events', 'tags').sort()).to.deep.equal([0, 1, 2, 3].map((i) => `["tag ${i}","été"]`));
    expect(lists('orders', 'event_ids')).to.include('["evt_0","evt_1"]');
    expect(lists('offers', 'event_ids').sort()).to.deep.equal(
      ['["evt_0","evt_1"]', '["evt_0"]', '["evt_1","evt_2"]', '["evt_1"]', '["evt_2"]'].sort(),
    );
    expect(lists('offers', 'resale_enabled')).to.include.members(['["false","true"]', '[]']);
  });
});

describe('The layout of a collection', () => {
  it('has each index in one pair at most', () => {
    for (const { name, composites } of COLLECTIONS) {
      const paired = composites.flat();
      expect(new Set(paired), name).to.have.lengthOf(paired.length);
    }
  });
});
