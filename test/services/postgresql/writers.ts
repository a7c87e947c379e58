import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../../scripts/sample/random.ts';
import { DatabaseSession, type DatabaseServer } from './server.ts';

const one = (column: string, from: string) => `(SELECT ${column} FROM ${from} ORDER BY random() LIMIT 1)`;
const newId = (prefix: string) => `'${prefix}_new_' || gen_random_uuid()`;

/**
 * Statements that an application of the schema would run. They insert, update and delete in tables whose rows make up
 * records directly, through parts, and through names that many records show. `check.sh` makes the other changes.
 */
export const OPERATIONS = {
  'sell tickets': `
    WITH stock AS (
      SELECT inventory.*, organization_id, currency, offers.name, pricings.name AS label, price FROM inventory
      JOIN offers ON offers.id = inventory.offer_id JOIN pricings ON pricings.offer_id = offers.id
      WHERE type = 'TICKET' AND available_stock > 1 ORDER BY random() LIMIT 1
    ), buyer AS (
      INSERT INTO customers SELECT organization_id, ${newId('cus')}, 'zoé\\"@example.org', 'Zoé', 'O''Brien' FROM stock
      RETURNING *
    ), sale AS (
      INSERT INTO orders (id, organization_id, number, invoice_reference, customer_id, sales_channel_id, status,
        payment_status, currency, discount_code, service_fees, delivery_fees, delivery_type, fulfilled_at)
      SELECT ${newId('ord')}, stock.organization_id, ${newId('N')}, ${newId('INV')}, buyer.id,
        (SELECT id FROM sales_channels AS c WHERE c.organization_id = stock.organization_id LIMIT 1), 'FULFILLED',
        'PAID', currency, 'TEN', 1.5, 0, 'on_site', now() FROM stock, buyer
      RETURNING *
    ), address AS (
      INSERT INTO order_addresses (order_id, role, type, address_line1, city, postal_code, country_code)
      SELECT id, 'billing', 'personal', E'1 rue\\tdu Port\\n', 'Nantes', '44000', 'FR' FROM sale
    ), item AS (
      INSERT INTO order_items (order_id, position, offer_id, inventory_id, session_id, offer_name, price_label, quantity,
        unit_price, unit_discount, unit_vat)
      SELECT sale.id, 1, offer_id, stock.id, session_id, name, label, 2, price, 1, 0.5 FROM sale, stock
      RETURNING *
    ), ticket AS (
      INSERT INTO tickets (id, organization_id, order_item_id, status, qr_code, bloc, transferable)
      SELECT ${newId('tkt')}, organization_id, item.id, 'FULFILLED', gen_random_uuid(), 'A', true
      FROM sale, item, generate_series(1, 2)
    )
    UPDATE inventory SET available_stock = available_stock - 2 WHERE id = (SELECT id FROM stock)`,
  'cancel an order': `
    WITH cancelled AS (
      UPDATE orders SET status = 'CANCELLED', cancelled_at = now(), updated_at = now()
      WHERE id = ${one('id', 'orders')} RETURNING *
    ), refund AS (
      INSERT INTO refunds (order_id, amount) SELECT id, 10.25 FROM cancelled
    )
    UPDATE tickets SET status = 'CANCELLED', cancelled_at = now(), updated_at = now()
    WHERE order_item_id IN (SELECT id FROM order_items WHERE order_id = (SELECT id FROM cancelled))`,
  'delete an order': `DELETE FROM orders WHERE id = ${one('id', 'orders')}`,
  'delete a ticket': `DELETE FROM tickets WHERE id = ${one('id', 'tickets')}`,
  'rename a row that many records show': `
    UPDATE customers SET last_name = last_name || '·' WHERE ctid = ${one('ctid', 'customers')};
    UPDATE sales_channels SET name = name || '·' WHERE ctid = ${one('ctid', 'sales_channels')};
    UPDATE venues SET name = name || '·' WHERE id = ${one('id', 'venues')};
    UPDATE tags SET name = name || '·' WHERE id = ${one('id', 'tags')}`,
  'move a session': `
    UPDATE event_sessions SET start_at = start_at + interval '1 hour' WHERE id = ${one('id', 'event_sessions')}`,
  'create an event': `
    WITH event AS (
      INSERT INTO events (id, organization_id, title, time_zone, currency)
      SELECT ${newId('evt')}, id, E'Nuit \\\\ "blanche"', 'Europe/Paris', 'EUR'
      FROM organizations WHERE id NOT LIKE 'org_new%' ORDER BY random() LIMIT 1 RETURNING *
    )
    INSERT INTO event_sessions SELECT ${newId('ses')}, organization_id, id, now() + interval '30 days', 90
    FROM event, generate_series(1, 2)`,
  'cancel all sessions of an event': `
    DELETE FROM event_sessions WHERE event_id = ${one('id', "events WHERE id LIKE 'evt_new%'")}`,
  'found an organization': `INSERT INTO organizations SELECT ${newId('org')}, 'Théâtre neuf'`,
};

/** A transaction draws from these. Frequent sales keep the tables from shrinking. */
const DRAWN = [...Object.values(OPERATIONS), ...Array.from({ length: 4 }, () => OPERATIONS['sell tickets'])];

interface Writer {
  readonly session: DatabaseSession;
  /** Number of operations in its longest transactions. */
  readonly longest: number;
  /** Number of operations until the commit; 0 between transactions. */
  left: number;
}

/** Sessions that write at random at the same time, in transactions of several operations. */
export class Writers {
  /** Number of transactions committed, and of those rolled back because of a conflict with another one. */
  committed = 0;
  rolledBack = 0;
  readonly #random: Random;
  readonly #writers: readonly Writer[];

  /** @param longest number of operations in the longest transactions of each session */
  constructor(server: DatabaseServer, random: Random, longest: readonly number[]) {
    this.#random = random;
    this.#writers = longest.map((operations) => ({
      session: new DatabaseSession(server),
      longest: operations,
      left: 0,
    }));
  }

  /** Lets all sessions write while `work` runs. They then stop between two operations: transactions stay open. */
  async writeDuring(work: () => Promise<void>): Promise<void> {
    let isDone = false;
    const writing = this.#writers.map(async (writer) => {
      while (!isDone) {
        await this.#operate(writer);
        // Leaves processor time for the feed.
        await delay(50);
      }
    });
    await Promise.all([work().finally(() => (isDone = true)), ...writing]);
  }

  /** Waits for this number of further commits, and for more commits than rollbacks, also when each session has one more. */
  async commitMore(count: number): Promise<void> {
    const enough = this.committed + count;
    while (this.committed < Math.max(enough, this.rolledBack + this.#writers.length + 1)) await delay(10);
  }

  /** Closes the sessions. Their open transactions are rolled back. */
  async end(): Promise<void> {
    for (const { session } of this.#writers) await session.end();
  }

  /** Runs the next operation of a session, and ends its transaction after the last one or a conflict. */
  async #operate(writer: Writer): Promise<void> {
    const { session, longest } = writer;
    if (writer.left === 0) {
      // A session does not wait for a transaction that stays open.
      await session.run(`BEGIN; SET LOCAL lock_timeout = '20ms'`);
      writer.left = this.#random.between(1, longest);
    }
    const isIntact = await session.run(this.#random.pick(DRAWN));
    writer.left = isIntact ? writer.left - 1 : 0;
    if (writer.left > 0) return;
    await session.run(isIntact ? 'COMMIT' : 'ROLLBACK');
    if (isIntact) this.committed++;
    else this.rolledBack++;
  }
}
