DROP SCHEMA IF EXISTS feed CASCADE;
CREATE SCHEMA feed;

CREATE VIEW feed.organizations AS
SELECT id::text, jsonb_build_object('organizationId', id::text, 'name', name)::text AS line
FROM box.companies;

CREATE VIEW feed.events AS
SELECT id::text, company::text AS organization_id, jsonb_build_object(
  'organizationId', company::text, 'id', id, 'createdAt', '2026-01-01T00:00:00Z', 'updatedAt', '2026-01-01T00:00:00Z',
  'title', title, 'eventTimezone', 'Europe/Paris', 'currency', 'EUR',
  'description', concat_ws(' ', state, sale, labels, logo, details, doors, host, flags, spot))::text AS line
FROM box.shows AS show
WHERE EXISTS (SELECT FROM box.dates WHERE dates.show = show.id);

CREATE VIEW feed.sessions AS
SELECT show.id::text || '-' || number::text AS id, company::text AS organization_id, jsonb_build_object(
  'organizationId', company::text, 'eventId', show.id, 'id', show.id::text || '-' || number::text,
  'startAt', day::timestamptz, 'durationMinutes', extract(epoch FROM length)::integer / 60)::text AS line
FROM box.dates JOIN box.shows AS show ON show.id = dates.show;

CREATE VIEW feed.tickets AS
SELECT "order"::text || '-' || number::text AS id, company::text AS organization_id, jsonb_build_object(
  'organizationId', company::text, 'ticketId', "order"::text || '-' || number::text, 'eventId', show.id,
  'eventSessionId', show.id::text || '-' || date::text, 'orderId', orders.id::text, 'status', 'FULFILLED',
  'issuedAt', placed::timestamptz, 'updatedAt', placed::timestamptz, 'currency', 'EUR',
  'qrCode', concat_ws('-', "order", number), 'priceLabel', place::text)::text AS line
FROM box.tickets AS ticket
JOIN box.orders ON orders.id = "order"
JOIN box.shows AS show ON show.id = orders.show;

CREATE VIEW feed.orders AS
SELECT orders.id::text, company::text AS organization_id, jsonb_build_object(
  'organizationId', company::text, 'orderId', orders.id::text, 'currency', 'EUR', 'totalPrice', total,
  'status', CASE WHEN paid THEN 'FULFILLED' ELSE 'PENDING' END,
  'customer', jsonb_build_object('customerId', buyer.id::text, 'email', buyer.email),
  'createdAt', placed::timestamptz, 'updatedAt', placed::timestamptz)::text AS line
FROM box.orders
JOIN box.shows AS show ON show.id = orders.show
JOIN box.buyers AS buyer ON buyer.id = orders.buyer;

CREATE VIEW feed.offers AS SELECT NULL AS id, NULL AS organization_id, NULL AS line WHERE false;
