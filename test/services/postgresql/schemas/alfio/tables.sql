-- Tables of alf.io in a small form. Money is in the smallest unit of its currency, keys are integers or character(36), a
-- translation is a row, and a row of ticket exists before the sale: a released one is sold again, under another uuid.
CREATE TABLE organization (id integer PRIMARY KEY, name varchar(255) NOT NULL);
CREATE TABLE event (
  id integer PRIMARY KEY, org_id integer NOT NULL REFERENCES organization, short_name varchar(2048) NOT NULL UNIQUE,
  display_name varchar(255) NOT NULL, location varchar(2048), start_ts timestamptz NOT NULL, end_ts timestamptz NOT NULL,
  time_zone varchar(255) NOT NULL, currency varchar(3) NOT NULL, available_seats integer NOT NULL);
CREATE TABLE event_description_text (
  event_id_fk integer REFERENCES event, locale varchar(8), type varchar(16), description text NOT NULL,
  PRIMARY KEY (event_id_fk, locale, type));
CREATE TABLE ticket_category (
  id integer PRIMARY KEY, event_id integer NOT NULL REFERENCES event, name varchar(255) NOT NULL,
  inception timestamptz NOT NULL, bounded boolean NOT NULL, max_tickets integer NOT NULL, src_price_cts integer NOT NULL);
CREATE TABLE additional_service (
  id integer PRIMARY KEY, event_id_fk integer NOT NULL REFERENCES event, src_price_cts integer NOT NULL,
  available_qty integer NOT NULL DEFAULT -1);
CREATE TABLE additional_service_description (
  additional_service_id_fk integer REFERENCES additional_service, locale varchar(8), type varchar(16), value text NOT NULL,
  PRIMARY KEY (additional_service_id_fk, locale, type));
CREATE TABLE tickets_reservation (
  id character(36) PRIMARY KEY, event_id_fk integer NOT NULL REFERENCES event, status varchar(255) NOT NULL,
  full_name varchar(255), email_address varchar(255), final_price_cts integer NOT NULL, currency_code varchar(3) NOT NULL,
  creation_ts timestamptz NOT NULL, confirmation_ts timestamptz);
CREATE TABLE ticket (
  id integer PRIMARY KEY, uuid character(36) NOT NULL UNIQUE, event_id integer NOT NULL REFERENCES event,
  category_id integer REFERENCES ticket_category, tickets_reservation_id character(36) REFERENCES tickets_reservation,
  status varchar(255) NOT NULL, full_name varchar(255), email_address varchar(255), final_price_cts integer NOT NULL,
  creation timestamptz NOT NULL);
CREATE TABLE additional_service_item (
  id integer PRIMARY KEY, additional_service_id_fk integer NOT NULL REFERENCES additional_service,
  tickets_reservation_uuid character(36) NOT NULL REFERENCES tickets_reservation, final_price_cts integer NOT NULL);
SELECT format('CREATE INDEX ON %s (%I)', conrelid::regclass, attname)
FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1] WHERE contype = 'f' \gexec
-- Those of the feed. A character(36) is no text.
CREATE INDEX ON event ((id::text));
CREATE INDEX ON ticket_category (('c' || id::text));
CREATE INDEX ON additional_service (('a' || id::text));
CREATE INDEX ON tickets_reservation ((id::text));
CREATE INDEX ON ticket ((uuid::text));

-- 60 events, each with two categories (one without a limit of its own), a service, ten tickets and two reservations.
INSERT INTO organization SELECT i, 'Organization ' || i FROM generate_series(1, 3) AS i;
INSERT INTO event
SELECT i, 1 + i % 3, 'event-' || i, 'Event ' || i, 'Hall', '2027-07-01 18:00Z', '2027-07-01 20:00Z', 'Europe/Zurich',
       CASE i % 4 WHEN 0 THEN 'JPY' ELSE 'CHF' END, 10
FROM generate_series(1, 60) AS i;
INSERT INTO event_description_text
SELECT id, locale, 'DESCRIPTION', locale || ' text' FROM event, unnest(ARRAY['de', 'en', 'it']) AS locale;
INSERT INTO ticket_category
SELECT 10 * id + i, id, 'Category ' || i, '2026-01-01Z', i = 1, CASE i WHEN 1 THEN 4 ELSE 0 END, 1250
FROM event, generate_series(1, 3) AS i;
INSERT INTO additional_service SELECT 10 * id + 1, id, 500, CASE id % 2 WHEN 0 THEN 20 ELSE -1 END FROM event;
INSERT INTO additional_service_description SELECT id, 'de', 'TITLE', 'T-Shirt' FROM additional_service;
INSERT INTO tickets_reservation
SELECT left(md5(id || '-' || i) || 'abcd', 36), id, CASE i WHEN 1 THEN 'COMPLETE' ELSE 'OFFLINE_PAYMENT' END, 'Ada L',
       CASE WHEN id % 4 > 0 THEN id || '@example.org' END, 3000, currency, '2026-01-01Z', NULL
FROM event, generate_series(1, 2) AS i;
INSERT INTO ticket
SELECT 10 * event.id + i, md5(event.id || '/' || i) || 'wxyz', event.id, CASE WHEN i <= 4 THEN 10 * event.id + (i + 1) / 2 END,
       CASE WHEN i <= 4 THEN left(md5(event.id || '-' || (i + 1) / 2) || 'abcd', 36) END,
       CASE WHEN i <= 4 THEN 'ACQUIRED' ELSE 'FREE' END, NULL, NULL, CASE WHEN i <= 4 THEN 1250 ELSE 0 END, '2026-01-01Z'
FROM event, generate_series(1, 10) AS i;
INSERT INTO additional_service_item
SELECT row_number() OVER (ORDER BY id), 10 * event_id_fk + 1, id, 500 FROM tickets_reservation WHERE status = 'COMPLETE';
