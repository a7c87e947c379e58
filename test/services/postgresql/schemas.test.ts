import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { needs } from '../../support/components.ts';
import { build, digestsOf, PRODUCED_AT } from '../../support/import-folder.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { completeExport, DatabaseServer, EXAMPLE, exportLines } from './server.ts';

const SCHEMAS = join(import.meta.dirname, 'schemas');
const NO_LIMIT = 2 ** 31 - 1;
/** A ticket that is not sold. */
const FREE_TICKET = '33bd8aa4c0f3da1b60ad8eadd25f6ec2wxyz';

const stock = (inventoryId: string, sessionId: string, totalStock: number, availableStock: number) => ({
  inventory: [{ inventoryId, sessionId, totalStock, availableStock }],
});
const guest = (email: string) => ({ customerId: email, email });

interface Application {
  /** What lines of the first export include, by file and id; null where there is no line. */
  readonly lines: Readonly<Record<string, Readonly<Record<string, object | null>>>>;
  /** Transactions that it does. */
  readonly transactions: readonly string[];
}

const APPLICATIONS: Readonly<Record<string, Application>> = {
  pretix: {
    lines: {
      events: { 1: { title: 'Concert 1', venueName: 'Halle', eventTimezone: 'Europe/Berlin' } },
      sessions: {
        e1: { eventId: '1', startAt: '2027-07-01T20:00:00+02:00', durationMinutes: 0 },
        s36: { eventId: '18', startAt: '2027-07-01T19:00:00+01:00', durationMinutes: 150 },
        e18: null,
      },
      tickets: { 2: { eventSessionId: 'e2', priceLabel: null }, 3: { priceLabel: 'Kind' }, 14: null },
      orders: {
        1: { customer: guest('1@example.org') },
        3: { customer: null, status: 'CANCELLED' },
        4: { customer: { customerId: 'C5', email: '5@example.org', lastName: 'Customer 5' } },
        7: null,
      },
      offers: {
        11: stock('2', 'e1', NO_LIMIT, NO_LIMIT),
        21: stock('4', 'e2', 100, 96),
        22: stock('4', 'e2', 100, 96),
      },
    },
    transactions: [
      `INSERT INTO pretixbase_orderposition SELECT 90000, 1, 3, 21, NULL, NULL, NULL, 10, 1, 'new', false`,
      "UPDATE pretixbase_orderposition SET canceled = true WHERE order_id = 2; UPDATE pretixbase_order SET status = 'c' WHERE id = 2",
      'UPDATE pretixbase_order SET testmode = NOT testmode WHERE id IN (1, 7)',
      'DELETE FROM pretixbase_orderposition WHERE order_id = 11; DELETE FROM pretixbase_order WHERE id = 11',
      'UPDATE pretixbase_quota SET size = NULL WHERE id = 4; DELETE FROM pretixbase_quota_items WHERE id = 61',
      `UPDATE pretixbase_organizer SET slug = 'x' || slug; UPDATE pretixbase_event SET slug = 'x' || slug, name = '{broken'`,
      "UPDATE pretixbase_organizer_settingsstore SET value = 'Europe/Rome' WHERE id = 1",
      'UPDATE pretixbase_subevent SET date_to = NULL WHERE event_id = 18',
      'UPDATE pretixbase_customer SET email = NULL WHERE id = 5; UPDATE pretixbase_order SET customer_id = NULL WHERE id = 8',
    ],
  },
  'hi-events': {
    lines: {
      events: { 2: { venueName: 'Club', eventTimezone: 'Europe/Paris' } },
      sessions: {
        1: { eventId: '1', startAt: '2027-07-01T20:00:00+02:00', durationMinutes: 0 },
        2: { eventId: '2', durationMinutes: 90 },
      },
      tickets: {
        31: {
          attendeeForm: {
            formId: '4',
            submittedAt: '2026-01-01T00:00:00+00:00',
            responses: [{ fieldId: '1', value: ['a'] }],
          },
        },
      },
      orders: {
        1: { customer: { ...guest('1@example.org'), firstName: 'Ada', lastName: 'L1' }, status: 'PENDING' },
        8: { customer: null },
        11: { status: 'FULFILLED' },
      },
      offers: {
        11: stock('product-11', '1', NO_LIMIT, NO_LIMIT),
        21: stock('capacity-2', '2', 500, 496),
        22: stock('capacity-2', '2', 500, 496),
        31: stock('product-31', '3', 100, 98),
      },
    },
    transactions: [
      "UPDATE orders SET status = 'RESERVED' WHERE id = 1",
      "UPDATE orders SET status = 'CANCELLED' WHERE id = 2; UPDATE attendees SET status = 'CANCELLED' WHERE order_id = 2",
      'UPDATE attendees SET deleted_at = now() WHERE id = 31; UPDATE orders SET deleted_at = now() WHERE id = 4',
      'UPDATE attendees SET deleted_at = NULL WHERE id = 31; UPDATE orders SET deleted_at = NULL WHERE id = 4',
      'UPDATE capacity_assignments SET used_capacity = used_capacity + 1 WHERE id = 2',
      'UPDATE events SET start_date = NULL WHERE id = 5; UPDATE events SET end_date = NULL, timezone = NULL WHERE id = 6',
      `UPDATE question_answers SET answer = '["c"]' WHERE attendee_id = 41; DELETE FROM question_answers WHERE attendee_id = 51`,
      "UPDATE accounts SET timezone = 'Europe/Rome' WHERE id = 1",
      'UPDATE accounts SET deleted_at = now() WHERE id = 3',
      'UPDATE accounts SET deleted_at = NULL WHERE id = 3',
    ],
  },
  alfio: {
    lines: {
      events: { 1: { description: 'en text' } },
      tickets: { [FREE_TICKET]: null },
      offers: {
        c11: { type: 'TICKET', ...stock('c11', '1', 4, 2) },
        c12: {
          pricing: [{ pricingId: 'c12', name: 'Category 2', price: 12.5, resaleEnabled: false }],
          ...stock('e1', '1', 6, 4),
        },
        c13: stock('e1', '1', 6, 4),
        c42: { pricing: [{ pricingId: 'c42', name: 'Category 2', price: 1250, resaleEnabled: false }] },
        a11: { type: 'PRODUCT', heldByEventIds: ['1'], name: 'T-Shirt', inventory: null },
        a21: { inventory: [{ inventoryId: 'a21', totalStock: 20, availableStock: 19, weightInGrams: 0 }] },
      },
    },
    transactions: [
      "UPDATE ticket SET status = 'RELEASED', uuid = gen_random_uuid()::text, tickets_reservation_id = NULL, category_id = NULL WHERE id = 11",
      "UPDATE ticket SET status = 'ACQUIRED', category_id = 13, tickets_reservation_id = (SELECT min(id) FROM tickets_reservation WHERE event_id_fk = 1) WHERE id = 11",
      `UPDATE ticket SET status = 'RELEASED', uuid = gen_random_uuid()::text, tickets_reservation_id = NULL, category_id = NULL WHERE event_id = 2;
       DELETE FROM additional_service_item USING tickets_reservation WHERE tickets_reservation_uuid = tickets_reservation.id AND event_id_fk = 2;
       UPDATE tickets_reservation SET status = 'CANCELLED' WHERE event_id_fk = 2`,
      'UPDATE ticket_category SET bounded = false, max_tickets = 0 WHERE id = 31',
      "UPDATE event_description_text SET description = 'new' WHERE event_id_fk = 4; DELETE FROM event_description_text WHERE locale = 'en' AND event_id_fk = 5",
      "INSERT INTO additional_service_description VALUES (61, 'en', 'TITLE', 'Shirt'); UPDATE additional_service SET available_qty = -1 WHERE id = 21",
      "UPDATE tickets_reservation SET status = 'PENDING' WHERE event_id_fk = 7",
    ],
  },
};

for (const [name, { lines, transactions }] of Object.entries(APPLICATIONS))
  describe(`The PostgreSQL example, adapted to tables as those of ${name}`, () => {
    needs('PostgreSQL 15');
    const inFolder = folderForAll();
    let server: DatabaseServer;
    let last: string;
    let seconds = 0;

    before(async () => {
      server = new DatabaseServer(inFolder);
      await server.psql(['-f', join(SCHEMAS, name, 'tables.sql')]);
      await prepare();
    });

    after(() => {
      server[Symbol.dispose]();
    });

    /** Creates the views and triggers. */
    async function prepare(): Promise<void> {
      const watched = `watched=${join(SCHEMAS, name, 'watched.sql')}`;
      const files = [join(SCHEMAS, name, 'views.sql'), join(EXAMPLE, 'changes.sql')];
      await server.psql(['-v', watched, ...files.flatMap((file) => ['-f', file])]);
    }

    /** Exports, and applies the result to the snapshot. Returns the reason to export everything. */
    async function next(): Promise<string> {
      const { token, reason } = await exportLines(server, inFolder(`export-${++seconds}`), last);
      const producedAt = new Date(PRODUCED_AT.getTime() + seconds * 1000);
      const base = reason === '' ? inFolder('main.sqlite') : undefined;
      // An account that is deleted is a loss.
      const options = { base, producedAt, allowShrink: true };
      await build(inFolder(`export-${seconds}`), inFolder('main.sqlite'), options);
      await completeExport(server, token);
      last = token;
      return reason;
    }

    it('exports what is difficult in it', async () => {
      last = '';
      expect(await next()).to.equal('all');
      for (const [collection, expected] of Object.entries(lines)) {
        const found = new Map(
          readFileSync(inFolder(`export-1/${collection}.ndjson`), 'utf8')
            .trim()
            .split('\n')
            .map(
              (line) =>
                JSON.parse(line) as Partial<Record<'id' | 'ticketId' | 'orderId' | 'offerId', string>>,
            )
            .map((record) => [record.ticketId ?? record.orderId ?? record.offerId ?? record.id, record]),
        );
        for (const [id, parts] of Object.entries(expected))
          if (parts === null) expect(found.has(id), `${collection} ${id}`).to.equal(false);
          else expect(found.get(id), `${collection} ${id}`).to.deep.include(parts);
      }
    });

    for (const transaction of transactions)
      it(`exports the changes of ${transaction}`, async () => {
        await server.psql(['-1', '-c', transaction]);
        expect(await next()).to.equal('');
        await exportLines(server, inFolder('expected'));
        await build(inFolder('expected'), inFolder('expected.sqlite'));
        const [published, expected] = ['main.sqlite', 'expected.sqlite'].map((path) =>
          digestsOf(readSnapshot(inFolder(path))),
        );
        expect(published).to.deep.equal(expected);
      });

    it('passes check.sh, with all indexes', async () => {
      const { code, stdout } = await server.run('check.sh');
      expect(code, stdout).to.equal(0);
      expect(stdout)
        .to.match(/, 0 are not noticed\n/)
        .and.not.include('no index');
    });

    if (name === 'hi-events')
      it('is prepared again for a migration that its views block, and exports everything', async () => {
        const migration = 'ALTER TABLE attendees ALTER email TYPE varchar(320)';
        const failure = await server.psql(['-c', migration]).catch(String);
        expect(failure).to.include('cannot alter type of a column used by a view');
        await server.psql(['-c', 'DROP SCHEMA feed CASCADE', '-c', migration]);
        await prepare();
        expect(await next()).to.equal('this database does not have the last export');
        expect(await next()).to.equal('');
      });

    if (name === 'pretix')
      it('looks up the changed records, although a ticket joins nine tables', async () => {
        await server.psql(['-c', 'SELECT add_orders(1001, 21000)', '-c', 'ANALYZE']);
        await next();
        await server.psql(['-c', 'UPDATE pretixbase_order SET email = NULL WHERE id BETWEEN 2001 AND 2300']);
        const [token = ''] = await server.valuesOf(`SELECT token FROM feed.begin('${last}', NULL)`);
        for (const collection of ['tickets', 'orders']) {
          const [query = ''] = await server.valuesOf(
            `SELECT feed.query(export, '${collection}') FROM feed.exports AS export WHERE token = '${token}'`,
          );
          const plan = await server.psql(['-At', '-c', `EXPLAIN ANALYZE ${query}`]);
          const rows = Array.from(plan.matchAll(/actual time=\S+ rows=(\d+)/g), ([, count]) => Number(count));
          expect(Math.max(...rows), plan).to.be.within(200, 1000);
        }
      });
  });
