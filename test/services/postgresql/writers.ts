import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../../scripts/sample/random.ts';
import { shuffled } from '../../support/random.ts';
import { DatabaseSession, type DatabaseServer } from './server.ts';

const one = (column: string, from: string) => `(SELECT ${column} FROM ${from} ORDER BY random() LIMIT 1)`;
const newId = (prefix: string) => `'${prefix}_new_' || gen_random_uuid()`;

/** Statements that an application of the schema would run. Together they insert, update and delete in every table. */
const OPERATIONS = {
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
    ), opt_in AS (
      INSERT INTO order_opt_ins SELECT id, 1, 'newsletter', true FROM sale
    ), service AS (
      INSERT INTO services SELECT organization_id, ${newId('srv')}, 'INSURANCE', 'Insurance' FROM sale RETURNING *
    ), add_on AS (
      INSERT INTO order_add_ons SELECT sale.id, 1, sale.organization_id, service.id, 2 FROM sale, service
    ), item AS (
      INSERT INTO order_items (order_id, position, offer_id, inventory_id, session_id, offer_name, price_label, quantity,
        unit_price, unit_discount, unit_vat)
      SELECT sale.id, 1, offer_id, stock.id, session_id, name, label, 2, price, 1, 0.5 FROM sale, stock
      RETURNING *
    ), ticket AS (
      INSERT INTO tickets (id, organization_id, order_item_id, status, qr_code, bloc, transferable)
      SELECT ${newId('tkt')}, organization_id, item.id, 'FULFILLED', gen_random_uuid(), 'A', true
      FROM sale, item, generate_series(1, 2)
      RETURNING *
    ), form AS (
      INSERT INTO attendee_forms SELECT id, 'form' FROM ticket RETURNING *
    ), answer AS (
      INSERT INTO attendee_answers SELECT ticket_id, 1, 'meal', '{vegan,"no nuts"}' FROM form
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
  'admit a ticket': `UPDATE tickets SET status = 'USED', updated_at = now() WHERE id = ${one('id', 'tickets')}`,
  'delete an order': `DELETE FROM orders WHERE id = ${one('id', 'orders')}`,
  'delete a ticket': `DELETE FROM tickets WHERE id = ${one('id', 'tickets')}`,
  'delete parts': `
    DELETE FROM refunds WHERE id = ${one('id', 'refunds')};
    DELETE FROM attendee_forms WHERE ticket_id = ${one('ticket_id', 'attendee_forms')};
    DELETE FROM order_opt_ins WHERE order_id = ${one('order_id', 'order_opt_ins')};
    DELETE FROM order_add_ons WHERE order_id = ${one('order_id', 'order_add_ons')};
    DELETE FROM order_addresses WHERE order_id = ${one('order_id', 'order_addresses')};
    DELETE FROM order_items WHERE id = ${one('id', 'order_items')}`,
  'change the parts of an order': `
    UPDATE order_items SET unit_price = unit_price + 1 WHERE id = ${one('id', 'order_items')};
    UPDATE order_opt_ins SET accepted = NOT accepted WHERE order_id = ${one('order_id', 'order_opt_ins')};
    UPDATE order_add_ons SET price = price + 1 WHERE order_id = ${one('order_id', 'order_add_ons')};
    UPDATE order_addresses SET city = city || '·' WHERE order_id = ${one('order_id', 'order_addresses')};
    UPDATE attendee_answers SET answers = answers || '{more}' WHERE ticket_id = ${one('ticket_id', 'attendee_answers')}`,
  'rename a customer': `
    UPDATE customers SET last_name = last_name || '·', email = 'new.' || email
    WHERE ctid = ${one('ctid', 'customers')}`,
  'rename a row that many orders show': `
    UPDATE sales_channels SET name = name || '·' WHERE ctid = ${one('ctid', 'sales_channels')};
    UPDATE services SET name = name || '·' WHERE ctid = ${one('ctid', 'services')};
    UPDATE pickup_points SET name = name || '·' WHERE ctid = ${one('ctid', 'pickup_points')}`,
  'rename a venue and a tag': `
    UPDATE venues SET name = name || '·' WHERE id = ${one('id', 'venues')};
    UPDATE tags SET name = name || '·' WHERE id = ${one('id', 'tags')}`,
  'rename an organization': `UPDATE organizations SET name = name || '·' WHERE id = ${one('id', 'organizations')}`,
  'move a session': `
    UPDATE event_sessions SET start_at = start_at + interval '1 hour' WHERE id = ${one('id', 'event_sessions')}`,
  'change a time zone': `
    UPDATE events SET updated_at = now(),
      time_zone = CASE time_zone WHEN 'America/St_Johns' THEN 'Europe/Paris' ELSE 'America/St_Johns' END
    WHERE id = ${one('id', 'events')}`,
  'create an event': `
    WITH venue AS (
      INSERT INTO venues SELECT ${newId('ven')}, id, 'Grange' FROM organizations WHERE id NOT LIKE 'org_new%'
      ORDER BY random() LIMIT 1 RETURNING *
    ), tag AS (
      INSERT INTO tags SELECT ${newId('tag')}, organization_id, ${newId('tag')} FROM venue RETURNING *
    ), event AS (
      INSERT INTO events (id, organization_id, venue_id, title, time_zone, currency)
      SELECT ${newId('evt')}, organization_id, id, E'Nuit \\\\ "blanche"', 'Europe/Paris', 'EUR' FROM venue RETURNING *
    ), tagged AS (
      INSERT INTO event_tags SELECT event.id, 1, tag.id FROM event, tag
    ), session AS (
      INSERT INTO event_sessions SELECT ${newId('ses')}, organization_id, id, now() + interval '30 days', 90
      FROM event, generate_series(1, 2) RETURNING *
    ), ticket AS (
      INSERT INTO offers (id, organization_id, type, name, currency, max_quantity, vat_rate, event_id)
      SELECT ${newId('off')}, organization_id, 'TICKET', 'Libre', 'EUR', 8, 0.055, id FROM event RETURNING *
    ), product AS (
      INSERT INTO offers (id, organization_id, type, name, currency, max_quantity, vat_rate)
      SELECT ${newId('off')}, organization_id, 'PRODUCT', 'Affiche', 'EUR', 8, 0.2 FROM event RETURNING *
    ), bundle AS (
      INSERT INTO offers (id, organization_id, type, name, currency, max_quantity, bundle_pricing_id, bundle_price)
      SELECT ${newId('off')}, organization_id, 'BUNDLE', 'Les deux', 'EUR', 8, ${newId('prc')}, 25 FROM event RETURNING *
    ), held AS (
      INSERT INTO offer_events SELECT offer.id, event.id FROM event, (TABLE product UNION ALL TABLE bundle) AS offer
    ), offer_tag AS (
      INSERT INTO offer_tags SELECT ticket.id, 1, tag.id FROM ticket, tag
    ), pricing AS (
      INSERT INTO pricings SELECT ${newId('prc')}, id, 1, 'Plein', 20 FROM (TABLE ticket UNION ALL TABLE product) AS offer
      RETURNING *
    ), option AS (
      INSERT INTO offer_options SELECT ticket.id, 1, product.id, pricing.id FROM ticket, product
      JOIN pricing ON offer_id = product.id
    ), stock AS (
      INSERT INTO inventory (id, offer_id, position, session_id, total_stock, available_stock)
      SELECT ${newId('inv')}, ticket.id, 1, session.id, 50, 50 FROM ticket, session
    )
    INSERT INTO bundle_contents SELECT bundle.id, 1, ticket.id, 2, 10 FROM bundle, ticket`,
  'cancel all sessions of an event': `
    WITH event AS (SELECT id FROM events WHERE id LIKE 'evt_new%' ORDER BY random() LIMIT 1), stock AS (
      DELETE FROM inventory WHERE session_id IN (SELECT id FROM event_sessions WHERE event_id = (TABLE event))
    )
    DELETE FROM event_sessions WHERE event_id = (TABLE event)`,
  'delete an event without sessions': `
    DELETE FROM bundle_contents WHERE offer_id IN (SELECT id FROM offers WHERE event_id NOT IN (SELECT event_id FROM event_sessions));
    DELETE FROM offers WHERE event_id NOT IN (SELECT event_id FROM event_sessions);
    DELETE FROM offer_events WHERE event_id NOT IN (SELECT event_id FROM event_sessions);
    DELETE FROM events WHERE id NOT IN (SELECT event_id FROM event_sessions)`,
  'change an offer': `
    UPDATE offers SET description = '<p>' || gen_random_uuid() WHERE id = ${one('id', 'offers')};
    UPDATE pricings SET price = price + 1 WHERE id = ${one('id', 'pricings')};
    UPDATE inventory SET total_stock = total_stock + 1 WHERE id = ${one('id', 'inventory')};
    UPDATE bundle_contents SET quantity = quantity + 1 WHERE bundle_id = ${one('bundle_id', 'bundle_contents')}`,
  'delete an offer and parts of others': `
    DELETE FROM offers WHERE id = ${one('id', "offers WHERE type = 'BUNDLE' AND id LIKE 'off_new%'")};
    DELETE FROM offer_options WHERE offer_id = ${one('offer_id', 'offer_options')};
    DELETE FROM offer_tags WHERE offer_id = ${one('offer_id', 'offer_tags')};
    DELETE FROM event_tags WHERE event_id = ${one('event_id', 'event_tags')}`,
  'found an organization': `INSERT INTO organizations SELECT ${newId('org')}, 'Théâtre neuf'`,
};

/** More sales in a round of operations, so that the tables do not shrink. */
const SALES = Array.from({ length: 4 }, () => OPERATIONS['sell tickets']);

/** Sessions that write at random at the same time, in transactions of several operations. */
export class Writers {
  /** Number of transactions committed, and of those rolled back because of a conflict with another one. */
  committed = 0;
  rolledBack = 0;
  readonly #count: number;
  readonly #writers: Promise<void>[];
  #gate = Promise.withResolvers<undefined>();
  #isOpen = false;
  #isStopped = false;
  #waiting = 0;
  #allWait = Promise.withResolvers<undefined>();

  /** Starts sessions, which wait. @param longest number of operations in the longest transactions of each */
  constructor(server: DatabaseServer, random: Random, longest: readonly number[]) {
    this.#count = longest.length;
    this.#writers = longest.map((operations) => this.#write(new DatabaseSession(server), random, operations));
  }

  /** Lets all sessions write while `work` runs. They then stop between two operations: transactions stay open. */
  async writeDuring(work: () => Promise<void>): Promise<void> {
    await this.#allWait.promise;
    this.#allWait = Promise.withResolvers();
    this.#isOpen = true;
    this.#gate.resolve(undefined);
    try {
      await work();
    } finally {
      this.#gate = Promise.withResolvers();
      this.#isOpen = false;
      await this.#allWait.promise;
    }
  }

  /** Waits for this number of further commits, and for more commits than rollbacks, also when each session has one more. */
  async commitMore(count: number): Promise<void> {
    const enough = this.committed + count;
    while (this.committed < Math.max(enough, this.rolledBack + this.#count + 1)) await delay(10);
  }

  /** Closes the sessions. Their open transactions are rolled back. */
  async end(): Promise<void> {
    this.#isStopped = true;
    this.#isOpen = true;
    this.#gate.resolve(undefined);
    await Promise.all(this.#writers);
  }

  async #write(session: DatabaseSession, random: Random, longest: number): Promise<void> {
    // A session does not wait for a transaction that stays open.
    await session.run(`SET lock_timeout = '20ms'`);
    let operations: string[] = [];
    for (;;) {
      await this.#pass();
      if (!(await session.run('BEGIN'))) throw new Error('no transaction began');
      let isIntact = true;
      for (let left = random.between(1, longest); isIntact && left > 0; left--) {
        await this.#pass();
        if (this.#isStopped) return session.end();
        if (operations.length === 0) operations = shuffled(random, [...Object.values(OPERATIONS), ...SALES]);
        isIntact = await session.run(operations.pop() ?? '');
      }
      await session.run(isIntact ? 'COMMIT' : 'ROLLBACK');
      if (isIntact) this.committed++;
      else this.rolledBack++;
    }
  }

  /** Waits while the gate is closed. */
  async #pass(): Promise<void> {
    // Leaves processor time for the feed.
    if (this.#isOpen) return delay(50);
    if (++this.#waiting === this.#count) this.#allWait.resolve(undefined);
    await this.#gate.promise;
    this.#waiting--;
  }
}
