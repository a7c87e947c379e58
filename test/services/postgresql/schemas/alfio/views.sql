\ir ../start.sql

-- Returns an amount, which has no cents in some currencies.
CREATE FUNCTION feed.amount(units bigint, currency text) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN currency IN ('JPY', 'KRW', 'CLP') THEN units ELSE round(units / 100.0, 2) END
$$;

CREATE VIEW feed.organizations AS
SELECT id::text, jsonb_build_object('organizationId', id::text, 'name', name)::text AS line FROM organization;

CREATE VIEW feed.events AS
SELECT id::text, org_id::text AS organization_id, jsonb_build_object(
  'organizationId', org_id::text, 'id', id::text, 'createdAt', to_timestamp(id), 'updatedAt', to_timestamp(id),
  'title', display_name, 'description', (
    SELECT description FROM event_description_text AS text WHERE event_id_fk = event.id AND type = 'DESCRIPTION'
    ORDER BY locale <> 'en', locale LIMIT 1),
  'venueName', location, 'eventTimezone', time_zone, 'currency', currency)::text AS line
FROM event;

CREATE VIEW feed.sessions AS
SELECT id::text, org_id::text AS organization_id, jsonb_build_object(
  'organizationId', org_id::text, 'eventId', id::text, 'id', id::text, 'startAt', feed.local_time(start_ts, time_zone),
  'durationMinutes', greatest(0, extract(epoch FROM end_ts - start_ts)::integer / 60))::text AS line
FROM event;

-- The orders: reservations that are no carts.
CREATE VIEW feed.reservations AS
SELECT *, CASE status WHEN 'COMPLETE' THEN 'FULFILLED' WHEN 'OFFLINE_PAYMENT' THEN 'PENDING' ELSE 'CANCELLED' END AS order_status
FROM tickets_reservation WHERE status IN ('COMPLETE', 'OFFLINE_PAYMENT', 'CANCELLED', 'CREDIT_NOTE_ISSUED');

CREATE VIEW feed.tickets AS
SELECT uuid::text AS id, org_id::text AS organization_id, jsonb_build_object(
  'organizationId', org_id::text, 'ticketId', uuid::text, 'eventId', event.id::text, 'status', order_status,
  'offerId', 'c' || category.id::text, 'offerName', category.name, 'issuedAt', creation, 'updatedAt', creation,
  'eventSessionId', event.id::text, 'qrCode', uuid::text, 'orderId', reservation.id::text, 'currency', currency_code,
  'finalPaidPrice', feed.amount(ticket.final_price_cts, currency_code),
  'customer', CASE WHEN ticket.email_address <> '' THEN
    jsonb_build_object('customerId', ticket.email_address, 'email', ticket.email_address, 'lastName', ticket.full_name) END)::text AS line
FROM ticket
JOIN feed.reservations AS reservation ON reservation.id = tickets_reservation_id
JOIN ticket_category AS category ON category.id = category_id
JOIN event ON event.id = ticket.event_id;

-- An order that lost its tickets has an item of its event with the quantity 0, so that `eventIds` finds it.
CREATE VIEW feed.orders AS
SELECT reservation.id::text, org_id::text AS organization_id, jsonb_build_object(
  'organizationId', org_id::text, 'orderId', reservation.id::text, 'status', order_status, 'currency', currency_code,
  'customer', CASE WHEN email_address <> '' THEN
    jsonb_build_object('customerId', email_address, 'email', email_address, 'lastName', full_name) END,
  'totalPaidPrice', feed.amount(final_price_cts, currency_code),
  'placedItems', coalesce((
    SELECT jsonb_agg(jsonb_build_object('offerId', offer, 'offerType', type, 'quantity', 1, 'eventId', event.id::text,
      'sessionId', event.id::text, 'unitPaidPrice', feed.amount(cts, currency_code)) ORDER BY offer, id)
    FROM (
      SELECT id, 'c' || category_id::text AS offer, 'TICKET' AS type, final_price_cts AS cts
      FROM ticket WHERE tickets_reservation_id = reservation.id
      UNION ALL
      SELECT id, 'a' || additional_service_id_fk::text, 'PRODUCT', final_price_cts
      FROM additional_service_item WHERE tickets_reservation_uuid = reservation.id) AS item
  ), jsonb_build_array(jsonb_build_object('eventId', event.id::text, 'quantity', 0))),
  'createdAt', creation_ts, 'updatedAt', coalesce(confirmation_ts, creation_ts), 'fulfilledAt', confirmation_ts)::text AS line
FROM feed.reservations AS reservation
JOIN event ON event.id = event_id_fk;

-- Offers of two tables, whose ids have a prefix. Categories without a limit share the seats that the others leave.
CREATE VIEW feed.offers AS
SELECT 'c' || category.id::text AS id, org_id::text AS organization_id, jsonb_build_object(
  'organizationId', org_id::text, 'offerId', 'c' || category.id::text, 'type', 'TICKET', 'eventId', event.id::text,
  'name', name, 'currency', currency, 'minQuantityPerOrder', 1, 'maxQuantityPerOrder', 2147483647, 'createdAt', inception,
  'vatRate', 0, 'defaultMaximumCapacity', available_seats,
  'pricing', jsonb_build_array(jsonb_build_object('pricingId', 'c' || category.id::text, 'name', name,
    'price', feed.amount(src_price_cts, currency), 'resaleEnabled', false)),
  'inventory', jsonb_build_array(jsonb_build_object('inventoryId', CASE WHEN bounded THEN 'c' || category.id::text ELSE 'e' || event.id::text END,
    'sessionId', event.id::text, 'totalStock', total, 'availableStock', greatest(0, total - (
      SELECT count(*) FROM ticket JOIN ticket_category AS sold ON sold.id = category_id
      WHERE sold.event_id = event.id AND ticket.status IN ('PENDING', 'TO_BE_PAID', 'ACQUIRED', 'CHECKED_IN')
        AND CASE WHEN category.bounded THEN sold.id = category.id ELSE NOT sold.bounded END)))))::text AS line
FROM ticket_category AS category
JOIN event ON event.id = event_id
CROSS JOIN LATERAL (
  SELECT CASE WHEN category.bounded THEN category.max_tickets ELSE available_seats - coalesce(sum(max_tickets), 0) END AS total
  FROM ticket_category WHERE event_id = event.id AND bounded) AS stock
UNION ALL
SELECT 'a' || service.id::text, org_id::text, jsonb_build_object(
  'organizationId', org_id::text, 'offerId', 'a' || service.id::text, 'type', 'PRODUCT', 'heldByEventIds', ARRAY[event.id::text],
  'name', coalesce(title, ''), 'currency', currency, 'minQuantityPerOrder', 0, 'maxQuantityPerOrder', 2147483647,
  'createdAt', to_timestamp(service.id), 'vatRate', 0, 'defaultQuantity', 0, 'variantOptionLabels', '{}'::jsonb,
  'pricing', jsonb_build_array(jsonb_build_object('pricingId', 'a' || service.id::text, 'name', coalesce(title, ''),
    'price', feed.amount(src_price_cts, currency))),
  'inventory', CASE WHEN available_qty >= 0 THEN jsonb_build_array(jsonb_build_object('inventoryId', 'a' || service.id::text,
    'weightInGrams', 0, 'totalStock', available_qty, 'availableStock', greatest(0, available_qty - (
      SELECT count(*) FROM additional_service_item WHERE additional_service_id_fk = service.id)))) END)::text
FROM additional_service AS service
JOIN event ON event.id = event_id_fk
CROSS JOIN LATERAL (
  SELECT (SELECT value FROM additional_service_description WHERE additional_service_id_fk = service.id AND type = 'TITLE'
          ORDER BY locale <> 'en', locale LIMIT 1) AS title) AS text;
