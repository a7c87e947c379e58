-- Tables of Hi.Events, an application with Laravel, in a small form. Times are `timestamp` in UTC, a deleted row has a
-- `deleted_at`, an event is its own session, a buyer is a guest, and references are of another type than keys.
CREATE TABLE accounts (
  id bigint PRIMARY KEY, name varchar NOT NULL, timezone varchar(255), deleted_at timestamp);
CREATE TABLE events (
  id bigint PRIMARY KEY, account_id integer NOT NULL REFERENCES accounts, title varchar(255) NOT NULL, description text,
  short_id varchar(32) NOT NULL, start_date timestamp, end_date timestamp, timezone varchar, location_details jsonb,
  currency varchar(3) NOT NULL, created_at timestamp NOT NULL, updated_at timestamp NOT NULL, deleted_at timestamp);
CREATE TABLE products (
  id bigint PRIMARY KEY, event_id integer NOT NULL REFERENCES events ON DELETE CASCADE, title varchar(255) NOT NULL,
  description text, min_per_order integer, max_per_order integer, created_at timestamp NOT NULL, deleted_at timestamp);
CREATE TABLE product_prices (
  id bigint PRIMARY KEY, product_id bigint NOT NULL REFERENCES products ON DELETE CASCADE, price numeric(14, 2) NOT NULL,
  label varchar(255), initial_quantity_available integer, quantity_sold integer NOT NULL DEFAULT 0, "order" integer NOT NULL,
  deleted_at timestamp);
CREATE TABLE capacity_assignments (
  id bigint PRIMARY KEY, event_id bigint NOT NULL REFERENCES events ON DELETE CASCADE, name varchar(255) NOT NULL,
  capacity integer, used_capacity integer NOT NULL DEFAULT 0, deleted_at timestamp);
CREATE TABLE product_capacity_assignments (
  id bigint PRIMARY KEY, product_id bigint NOT NULL REFERENCES products ON DELETE CASCADE,
  capacity_assignment_id bigint NOT NULL REFERENCES capacity_assignments ON DELETE CASCADE, deleted_at timestamp);
CREATE TABLE orders (
  id bigint PRIMARY KEY, event_id integer NOT NULL REFERENCES events, public_id varchar NOT NULL UNIQUE,
  status varchar NOT NULL, payment_status varchar, first_name varchar(50), last_name varchar(50), email varchar(255),
  currency varchar(3) NOT NULL, total_gross numeric(14, 2) NOT NULL, total_refunded numeric(14, 2) NOT NULL DEFAULT 0,
  created_at timestamp NOT NULL, updated_at timestamp, deleted_at timestamp);
CREATE TABLE order_items (
  id bigint PRIMARY KEY, order_id integer NOT NULL REFERENCES orders ON DELETE CASCADE,
  product_id integer NOT NULL REFERENCES products, product_price_id integer NOT NULL REFERENCES product_prices,
  item_name varchar, quantity integer NOT NULL, price numeric(14, 2) NOT NULL, price_before_discount numeric(14, 2),
  deleted_at timestamp);
CREATE TABLE attendees (
  id bigint PRIMARY KEY, order_id integer NOT NULL REFERENCES orders ON DELETE CASCADE,
  product_id integer NOT NULL REFERENCES products ON DELETE CASCADE,
  product_price_id bigint NOT NULL REFERENCES product_prices, event_id integer NOT NULL REFERENCES events ON DELETE CASCADE,
  public_id varchar NOT NULL, first_name varchar(255) NOT NULL, last_name varchar(255) NOT NULL,
  email varchar(255) NOT NULL, status varchar(20) NOT NULL, created_at timestamp NOT NULL, updated_at timestamp NOT NULL,
  deleted_at timestamp);
CREATE TABLE question_answers (
  id bigint PRIMARY KEY, question_id integer NOT NULL, attendee_id integer REFERENCES attendees, answer jsonb,
  created_at timestamp NOT NULL, deleted_at timestamp);

SELECT format('CREATE INDEX ON %s (%I)', conrelid::regclass, attname)
FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1] WHERE contype = 'f' \gexec
-- Those of the feed.
SELECT format('CREATE INDEX ON %s ((id::text))', name)
FROM unnest(ARRAY['events', 'products', 'orders', 'attendees']) AS name \gexec

-- Event 1 has no end, and none of its products a limit. The price of an event is limited by itself, or by a capacity that
-- its two products share.
INSERT INTO accounts SELECT i, 'Account ' || i, 'Europe/Paris' FROM generate_series(1, 3) AS i;
INSERT INTO events
SELECT i, 1 + i % 3, 'Event ' || i, NULL, 'e' || i, '2027-07-01 18:00', CASE WHEN i > 1 THEN timestamp '2027-07-01 19:30' END,
       CASE WHEN i % 5 > 0 THEN 'Europe/Paris' END,
       '{"venue_name": "Club", "address_line_1": "1 Rue", "city": "Lyon", "zip_or_postal_code": "69001", "country": "FR"}',
       'EUR', '2026-01-01', '2026-01-01'
FROM generate_series(1, 60) AS i;
INSERT INTO products
SELECT 10 * id + i, id, 'Ticket ' || i, NULL, NULL, CASE i WHEN 1 THEN 10 END, '2026-01-01' FROM events, generate_series(1, 2) AS i;
INSERT INTO product_prices
SELECT id, id, 20, 'Early', CASE WHEN id % 20 > 10 AND event_id > 1 THEN 100 END, 2, 1 FROM products;
INSERT INTO capacity_assignments SELECT id, id, 'Hall', CASE WHEN id > 1 THEN 500 END, 4 FROM events WHERE id % 2 = 0 OR id < 50;
INSERT INTO product_capacity_assignments
SELECT products.id, products.id, capacity.id FROM products JOIN capacity_assignments AS capacity USING (event_id);
-- Of each eighth, the check-out has not ended.
INSERT INTO orders
SELECT i, 1 + i % 60, 'P' || i, (ARRAY['COMPLETED', 'AWAITING_OFFLINE_PAYMENT', 'CANCELLED', 'COMPLETED'])[1 + i % 4],
       'PAYMENT_RECEIVED', 'Ada', 'L' || i, CASE WHEN i % 8 > 0 THEN i || '@example.org' END, 'EUR', 40, 0, '2026-01-01', '2026-01-01'
FROM generate_series(1, 120) AS i;
INSERT INTO order_items
SELECT 10 * o.id + i, o.id, 10 * event_id + i, 10 * event_id + i, 'Ticket ' || i, 1, 18, 20 FROM orders AS o, generate_series(1, 2) AS i;
INSERT INTO attendees
SELECT item.id, order_id, product_id, product_price_id, event_id, 'A' || item.id, 'Ada', 'L', item.id || '@example.org',
       'ACTIVE', '2026-01-01', '2026-01-01'
FROM order_items AS item JOIN orders ON orders.id = order_id;
INSERT INTO question_answers
SELECT id, 1, id, CASE id % 3 WHEN 0 THEN '["a", "b"]' ELSE '"a"' END::jsonb, '2026-01-01' FROM attendees;
