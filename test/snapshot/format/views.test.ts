import Database from 'better-sqlite3';
import { expect } from 'chai';
import { readHistory } from '../../../scripts/snapshot/inspect.ts';
import { parseTimestamp } from '../../../src/contract/timestamp.ts';
import { byCollection, COLLECTIONS } from '../../../src/snapshot/format/layout.ts';
import { RUN_TABLES } from '../../support/digests.ts';
import { organizationOf, textsOf } from '../../support/import-folder.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';
import { SoundSnapshot } from '../../support/sound-snapshot.ts';

/** The columns of each view, on which docs/snapshot-format.md and the queries of operators rely. */
const VIEWS = {
  events: 'organization_id row event_id changed_at record',
  sessions: 'organization_id row session_id event_id starts start_at changed_at record',
  tickets:
    'organization_id row ticket_id event_id event_session_id order_id qr_code updated_at changed_at record',
  orders: 'organization_id row order_id status email updated_at changed_at record',
  offers: 'organization_id row offer_id type created_at changed_at record',
  event_tags: 'organization_id event_row tag',
  order_events: 'organization_id order_row event_id',
  offer_events: 'organization_id offer_row event_id',
  offer_resales: 'organization_id offer_row resale_enabled',
};
/** The field of the record that a column holds. */
const FIELDS = {
  events: { event_id: 'id' },
  sessions: { session_id: 'id', start_at: 'startAt', starts: 'startAt' },
  tickets: {
    ...{ ticket_id: 'ticketId', event_id: 'eventId', event_session_id: 'eventSessionId' },
    ...{ order_id: 'orderId', qr_code: 'qrCode', updated_at: 'updatedAt' },
  },
  orders: { order_id: 'orderId', status: 'status', updated_at: 'updatedAt' },
  offers: { offer_id: 'offerId', type: 'type', created_at: 'createdAt' },
};

describe('The views of a snapshot', () => {
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

  it('have the documented columns', () => {
    const names = query("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY rowid").map(
      ({ name }) => name,
    );
    expect(names).to.deep.equal(Object.keys(VIEWS));
    for (const [view, columns] of Object.entries(VIEWS)) {
      const found = query(`SELECT name FROM pragma_table_info('${view}')`).map(({ name }) => name);
      expect(found.join(' '), view).to.equal(columns);
    }
  });

  for (const { name } of COLLECTIONS) {
    it(`have one row for each record, in list order, with its exact text and values: ${name}`, () => {
      const rows = query(`SELECT * FROM ${name} ORDER BY organization_id, row`);
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

  it('have one row for each value of a list', () => {
    const pairs = (view: string, parent: string, id: string, value: string) =>
      query(
        `SELECT ${id} AS id, ${value} AS value FROM ${view} AS one
         JOIN ${parent}s AS parent ON parent.organization_id = one.organization_id AND parent.row = ${parent}_row
         WHERE one.organization_id = 'south' ORDER BY 1, 2`,
      ).map(({ id, value }) => `${String(id)} ${String(value)}`);
    expect(pairs('event_tags', 'event', 'event_id', 'tag')).to.deep.equal(
      [0, 1, 2, 3].flatMap((i) => [`evt_${i} tag ${i}`, `evt_${i} été`]),
    );
    const orderEvents = pairs('order_events', 'order', 'order_id', 'one.event_id');
    expect(orderEvents).to.include.members(['ord_1 evt_0', 'ord_1 evt_1', 'ord_4 evt_0']);
    expect(pairs('offer_events', 'offer', 'offer_id', 'event_id').join(', ')).to.equal(
      'off_0 evt_0, off_1 evt_1, off_2 evt_2, off_3 evt_0, off_3 evt_1, off_4 evt_1, off_4 evt_2',
    );
    expect(pairs('offer_resales', 'offer', 'offer_id', 'resale_enabled'))
      .to.have.length(6)
      .and.include('off_2 true');
  });

  it('have no times of changes where a writer declares none', () => {
    const path = snapshot.copyWith(
      ...Object.values(RUN_TABLES).map((table) => `UPDATE ${table} SET changed_at = ''`),
    );
    const altered = new Database(path, { readonly: true });
    for (const { name } of COLLECTIONS) {
      const times = altered.prepare(`SELECT DISTINCT changed_at FROM ${name}`).pluck().all();
      expect(times, name).to.deep.equal([null]);
    }
    altered.close();
    expect(readHistory(path).changed).to.deep.equal(byCollection(() => 0));
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
