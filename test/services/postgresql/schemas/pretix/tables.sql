-- Tables of pretix, an application with Django, in a small form. Texts are JSON by language in columns of type text, a
-- setting is a row, and an order is cancelled, not deleted. Each foreign key is deferred, and has an index.
CREATE TABLE pretixbase_organizer (id bigint PRIMARY KEY, name varchar(200) NOT NULL, slug varchar(50) NOT NULL UNIQUE);
CREATE TABLE pretixbase_organizer_settingsstore (
  id bigint PRIMARY KEY, object_id bigint NOT NULL REFERENCES pretixbase_organizer DEFERRABLE INITIALLY DEFERRED,
  key varchar(255) NOT NULL, value text NOT NULL);
CREATE TABLE pretixbase_event (
  id bigint PRIMARY KEY, organizer_id bigint NOT NULL REFERENCES pretixbase_organizer DEFERRABLE INITIALLY DEFERRED,
  name text NOT NULL, slug varchar(50) NOT NULL, currency varchar(10) NOT NULL, location text,
  date_from timestamptz NOT NULL, date_to timestamptz, has_subevents boolean NOT NULL, last_modified timestamptz NOT NULL);
CREATE TABLE pretixbase_event_settingsstore (
  id bigint PRIMARY KEY, object_id bigint NOT NULL REFERENCES pretixbase_event DEFERRABLE INITIALLY DEFERRED,
  key varchar(255) NOT NULL, value text NOT NULL);
CREATE TABLE pretixbase_subevent (
  id bigint PRIMARY KEY, event_id bigint NOT NULL REFERENCES pretixbase_event DEFERRABLE INITIALLY DEFERRED,
  name text NOT NULL, date_from timestamptz NOT NULL, date_to timestamptz);
CREATE TABLE pretixbase_item (
  id bigint PRIMARY KEY, event_id bigint NOT NULL REFERENCES pretixbase_event DEFERRABLE INITIALLY DEFERRED,
  name text NOT NULL, description text, default_price numeric(13, 2) NOT NULL, min_per_order integer, max_per_order integer);
CREATE TABLE pretixbase_itemvariation (
  id bigint PRIMARY KEY, item_id bigint NOT NULL REFERENCES pretixbase_item DEFERRABLE INITIALLY DEFERRED,
  value text NOT NULL, default_price numeric(13, 2), position integer NOT NULL);
CREATE TABLE pretixbase_quota (
  id bigint PRIMARY KEY, event_id bigint NOT NULL REFERENCES pretixbase_event DEFERRABLE INITIALLY DEFERRED,
  subevent_id bigint REFERENCES pretixbase_subevent DEFERRABLE INITIALLY DEFERRED, size integer);
CREATE TABLE pretixbase_quota_items (
  id bigint PRIMARY KEY, quota_id bigint NOT NULL REFERENCES pretixbase_quota DEFERRABLE INITIALLY DEFERRED,
  item_id bigint NOT NULL REFERENCES pretixbase_item DEFERRABLE INITIALLY DEFERRED, UNIQUE (quota_id, item_id));
CREATE TABLE pretixbase_saleschannel (
  id bigint PRIMARY KEY, organizer_id bigint NOT NULL REFERENCES pretixbase_organizer DEFERRABLE INITIALLY DEFERRED,
  label text NOT NULL);
CREATE TABLE pretixbase_customer (
  id bigint PRIMARY KEY, organizer_id bigint NOT NULL REFERENCES pretixbase_organizer DEFERRABLE INITIALLY DEFERRED,
  identifier varchar(190) NOT NULL, email varchar(254), name_cached varchar(255) NOT NULL);
CREATE TABLE pretixbase_seat (
  id bigint PRIMARY KEY, event_id bigint NOT NULL REFERENCES pretixbase_event DEFERRABLE INITIALLY DEFERRED,
  zone_name varchar(190) NOT NULL, row_name varchar(190) NOT NULL, seat_number varchar(190) NOT NULL);
CREATE TABLE pretixbase_order (
  id bigint PRIMARY KEY, event_id bigint NOT NULL REFERENCES pretixbase_event DEFERRABLE INITIALLY DEFERRED,
  code varchar(16) NOT NULL, status varchar(3) NOT NULL, testmode boolean NOT NULL DEFAULT false,
  customer_id bigint REFERENCES pretixbase_customer DEFERRABLE INITIALLY DEFERRED, email varchar(254),
  sales_channel_id bigint NOT NULL REFERENCES pretixbase_saleschannel DEFERRABLE INITIALLY DEFERRED,
  total numeric(13, 2) NOT NULL, datetime timestamptz NOT NULL, last_modified timestamptz NOT NULL,
  cancellation_date timestamptz);
CREATE TABLE pretixbase_orderposition (
  id bigint PRIMARY KEY, order_id bigint NOT NULL REFERENCES pretixbase_order DEFERRABLE INITIALLY DEFERRED,
  positionid integer NOT NULL, item_id bigint NOT NULL REFERENCES pretixbase_item DEFERRABLE INITIALLY DEFERRED,
  variation_id bigint REFERENCES pretixbase_itemvariation DEFERRABLE INITIALLY DEFERRED,
  subevent_id bigint REFERENCES pretixbase_subevent DEFERRABLE INITIALLY DEFERRED,
  seat_id bigint REFERENCES pretixbase_seat DEFERRABLE INITIALLY DEFERRED,
  price numeric(13, 2) NOT NULL, tax_value numeric(13, 2) NOT NULL, secret varchar(255) NOT NULL, canceled boolean NOT NULL);
CREATE TABLE pretixbase_orderrefund (
  id bigint PRIMARY KEY, order_id bigint NOT NULL REFERENCES pretixbase_order DEFERRABLE INITIALLY DEFERRED,
  state varchar(190) NOT NULL, amount numeric(13, 2) NOT NULL);

SELECT format('CREATE INDEX ON %s (%I)', conrelid::regclass, attname)
FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1] WHERE contype = 'f' \gexec
-- Those of the feed.
CREATE INDEX ON pretixbase_event ((id::text));
CREATE INDEX ON pretixbase_event (('e' || id::text));
CREATE INDEX ON pretixbase_subevent (('s' || id::text));
CREATE INDEX ON pretixbase_item ((id::text));
CREATE INDEX ON pretixbase_order ((id::text));
CREATE INDEX ON pretixbase_orderposition ((id::text));

-- Events 1 to 60; each third is a series of two dates. Event 1 has no end, and its quota has no limit.
INSERT INTO pretixbase_organizer SELECT i, 'Organizer ' || i, 'o' || i FROM generate_series(1, 3) AS i;
INSERT INTO pretixbase_organizer_settingsstore SELECT i, i, 'timezone', 'Europe/Berlin' FROM generate_series(1, 2) AS i;
INSERT INTO pretixbase_event
SELECT i, 1 + i % 3, CASE i % 3 WHEN 0 THEN 'Plain ' || i ELSE format('{"de": "Konzert %s", "en": "Concert %1$s"}', i) END,
       'e' || i, 'EUR', '{"de": "Halle"}', '2027-07-01 18:00Z', CASE WHEN i > 1 THEN timestamptz '2027-07-01 20:30Z' END,
       i % 3 = 0, '2026-01-01Z'
FROM generate_series(1, 60) AS i;
INSERT INTO pretixbase_event_settingsstore SELECT i, i, 'timezone', 'Europe/London' FROM generate_series(2, 60, 4) AS i;
INSERT INTO pretixbase_subevent
SELECT 2 * id + i, id, name, date_from + i * interval '1 day', date_to + i * interval '1 day'
FROM pretixbase_event, generate_series(0, 1) AS i WHERE has_subevents;
INSERT INTO pretixbase_item
SELECT 10 * id + i, id, format('{"de": "Karte %s", "en": "Ticket %1$s"}', i), NULL, 10 * i, NULL, 10
FROM pretixbase_event, generate_series(1, 2) AS i;
INSERT INTO pretixbase_itemvariation SELECT id, id, '{"de": "Kind"}', 5, 1 FROM pretixbase_item WHERE id % 10 = 2;
INSERT INTO pretixbase_quota
SELECT 2 * event.id + coalesce(subevent.id % 2, 0), event.id, subevent.id, CASE WHEN event.id > 1 THEN 100 END
FROM pretixbase_event AS event LEFT JOIN pretixbase_subevent AS subevent ON event_id = event.id;
INSERT INTO pretixbase_quota_items
SELECT 10 * quota.id + item.id % 10, quota.id, item.id
FROM pretixbase_quota AS quota JOIN pretixbase_item AS item USING (event_id);
INSERT INTO pretixbase_saleschannel SELECT i, i, '{"en": "Online shop"}' FROM generate_series(1, 3) AS i;
INSERT INTO pretixbase_customer
SELECT i, 1 + i % 3, 'C' || i, i || '@example.org', 'Customer ' || i FROM generate_series(1, 60) AS i;
INSERT INTO pretixbase_seat SELECT i, i, 'Floor', 'A', i FROM generate_series(1, 60) AS i;

-- Adds orders of two tickets: of guests, of customers, and without an e-mail address; each seventh is a test order.
CREATE FUNCTION add_orders(first integer, last integer) RETURNS void LANGUAGE sql AS $$
  INSERT INTO pretixbase_order
  SELECT i, 1 + i % 60, 'O' || i, (ARRAY['n', 'p', 'p', 'e', 'c'])[1 + i % 5], i % 7 = 0,
         CASE WHEN i % 4 = 0 THEN 1 + i % 60 END, CASE WHEN i % 4 < 3 THEN i || '@example.org' END, 1 + (1 + i % 60) % 3, 30,
         '2026-01-01Z', '2026-01-01Z'
  FROM generate_series(first, last) AS i;
  INSERT INTO pretixbase_orderposition
  SELECT 2 * o.id + i, o.id, 1 + i, 10 * event_id + 1 + i, CASE i WHEN 1 THEN 10 * event_id + 2 END, (
           SELECT min(id) FROM pretixbase_subevent AS subevent WHERE subevent.event_id = o.event_id),
         CASE WHEN o.id <= 60 AND i = 0 THEN event_id END, 10 + 10 * i, 1.5, 'secret' || 2 * o.id + i, false
  FROM pretixbase_order AS o, generate_series(0, 1) AS i WHERE o.id BETWEEN first AND last;
$$;
SELECT add_orders(1, 120);
INSERT INTO pretixbase_orderrefund SELECT i, 2 * i, 'done', 5 FROM generate_series(1, 50) AS i;
