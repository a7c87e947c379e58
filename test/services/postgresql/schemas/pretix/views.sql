\ir ../start.sql

-- Returns the English text, or else another, of a JSON by language; plain text as it is. A text that only looks like JSON
-- must not fail the export of all.
CREATE FUNCTION feed.translated(value text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF value LIKE '{%' THEN
    RETURN coalesce(value::jsonb ->> 'en', (SELECT text FROM jsonb_each_text(value::jsonb) AS each (key, text) ORDER BY key LIMIT 1));
  END IF;
  RETURN value;
EXCEPTION WHEN invalid_text_representation THEN
  RETURN value;
END
$$;

-- The setting of the event, else of the organizer. A join would double lines where a setting has two rows.
CREATE FUNCTION feed.zone(of_event bigint, of_organizer bigint) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    (SELECT max(value) FROM public.pretixbase_event_settingsstore WHERE object_id = of_event AND key = 'timezone'),
    (SELECT max(value) FROM public.pretixbase_organizer_settingsstore WHERE object_id = of_organizer AND key = 'timezone'),
    'Etc/UTC')
$$;

CREATE VIEW feed.organizations AS
SELECT id::text, jsonb_build_object('organizationId', id::text, 'name', name)::text AS line FROM pretixbase_organizer;

-- No time of creation: that of the id keeps the order.
CREATE VIEW feed.events AS
SELECT id::text, organizer_id::text AS organization_id, jsonb_build_object(
  'organizationId', organizer_id::text, 'id', id::text, 'createdAt', to_timestamp(id), 'updatedAt', last_modified,
  'title', feed.translated(name), 'venueName', feed.translated(location), 'currency', currency,
  'eventTimezone', feed.zone(id, organizer_id))::text AS line
FROM pretixbase_event AS event
WHERE NOT has_subevents OR EXISTS (SELECT FROM pretixbase_subevent WHERE event_id = event.id);

-- The dates of a series; any other event is its own session. Without an end, the duration is 0.
CREATE VIEW feed.sessions AS
SELECT id, organizer_id::text AS organization_id, jsonb_build_object(
  'organizationId', organizer_id::text, 'eventId', event_id::text, 'id', id,
  'startAt', feed.local_time(date_from, feed.zone(event_id, organizer_id)),
  'durationMinutes', greatest(0, extract(epoch FROM date_to - date_from)::integer / 60))::text AS line
FROM (
  SELECT 'e' || id::text AS id, id AS event_id, organizer_id, date_from, date_to FROM pretixbase_event WHERE NOT has_subevents
  UNION ALL
  SELECT 's' || subevent.id::text, event.id, organizer_id, subevent.date_from, subevent.date_to
  FROM pretixbase_subevent AS subevent JOIN pretixbase_event AS event ON event.id = event_id WHERE has_subevents
) AS session;

CREATE FUNCTION feed.session(of_event bigint, of_subevent bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce('s' || of_subevent::text, 'e' || of_event::text)
$$;

-- The customer of an order, or the guest, known by the e-mail alone; null without one.
CREATE FUNCTION feed.customer(customer pretixbase_customer, guest text) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN customer.email <> '' THEN
      jsonb_build_object('customerId', customer.identifier, 'email', customer.email, 'lastName', customer.name_cached)
    WHEN guest <> '' THEN jsonb_build_object('customerId', guest, 'email', guest)
  END
$$;

CREATE VIEW feed.tickets AS
SELECT position.id::text, event.organizer_id::text AS organization_id, jsonb_build_object(
  'organizationId', event.organizer_id::text, 'ticketId', position.id::text, 'eventId', event.id::text,
  'status', CASE WHEN canceled OR orders.status IN ('c', 'e') THEN 'CANCELLED' WHEN orders.status = 'p' THEN 'FULFILLED' ELSE 'PENDING' END,
  'offerId', item.id::text, 'offerName', feed.translated(item.name), 'priceLabel', feed.translated(variation.value),
  'issuedAt', orders.datetime, 'updatedAt', orders.last_modified, 'cancelledAt', orders.cancellation_date,
  'eventSessionId', feed.session(event.id, subevent.id),
  'eventSessionStartAt', feed.local_time(coalesce(subevent.date_from, event.date_from), feed.zone(event.id, event.organizer_id)),
  'seatingInfo', CASE WHEN seat.id IS NOT NULL THEN
    jsonb_build_object('blocName', seat.zone_name, 'seatRow', seat.row_name, 'seatNumber', seat.seat_number) END,
  'qrCode', position.secret, 'orderId', orders.id::text, 'orderNumber', orders.code,
  'salesChannelId', channel.id::text, 'salesChannelName', feed.translated(channel.label),
  'finalPaidPrice', position.price, 'vat', position.tax_value, 'currency', event.currency,
  'customer', feed.customer(customer, orders.email))::text AS line
FROM pretixbase_orderposition AS position
JOIN pretixbase_order AS orders ON orders.id = position.order_id
JOIN pretixbase_event AS event ON event.id = orders.event_id
JOIN pretixbase_item AS item ON item.id = position.item_id
JOIN pretixbase_saleschannel AS channel ON channel.id = orders.sales_channel_id
LEFT JOIN pretixbase_itemvariation AS variation ON variation.id = position.variation_id
LEFT JOIN pretixbase_subevent AS subevent ON subevent.id = position.subevent_id
LEFT JOIN pretixbase_seat AS seat ON seat.id = position.seat_id
LEFT JOIN pretixbase_customer AS customer ON customer.id = orders.customer_id
WHERE NOT orders.testmode;

-- A cancelled position stays, with the quantity 0, so that `eventIds` finds its order.
CREATE VIEW feed.orders AS
SELECT orders.id::text, event.organizer_id::text AS organization_id, jsonb_build_object(
  'organizationId', event.organizer_id::text, 'orderId', orders.id::text, 'orderNumber', orders.code,
  'status', CASE orders.status WHEN 'p' THEN 'FULFILLED' WHEN 'n' THEN 'PENDING' ELSE 'CANCELLED' END,
  'salesChannelId', channel.id::text, 'salesChannelName', feed.translated(channel.label),
  'customer', feed.customer(customer, orders.email), 'currency', event.currency, 'totalPaidPrice', orders.total,
  'placedItems', (
    SELECT jsonb_agg(jsonb_build_object(
      'offerId', item.id::text, 'offerName', feed.translated(item.name), 'offerType', 'TICKET',
      'quantity', CASE WHEN canceled THEN 0 ELSE 1 END, 'unitPaidPrice', price, 'eventId', event.id::text,
      'sessionId', feed.session(event.id, subevent_id)) ORDER BY positionid, position.id)
    FROM pretixbase_orderposition AS position JOIN pretixbase_item AS item ON item.id = item_id
    WHERE order_id = orders.id),
  'refundedAmount', (SELECT sum(amount) FROM pretixbase_orderrefund WHERE order_id = orders.id AND state = 'done'),
  'createdAt', orders.datetime, 'updatedAt', orders.last_modified, 'cancelledAt', orders.cancellation_date)::text AS line
FROM pretixbase_order AS orders
JOIN pretixbase_event AS event ON event.id = orders.event_id
JOIN pretixbase_saleschannel AS channel ON channel.id = orders.sales_channel_id
LEFT JOIN pretixbase_customer AS customer ON customer.id = orders.customer_id
WHERE NOT orders.testmode;

-- The stock of a quota, which items share; without a limit, the highest integer of 32 bits. `greatest` ignores nulls.
CREATE VIEW feed.stock AS
SELECT quota.id, quota.event_id, quota.subevent_id, coalesce(size, 2147483647) AS total,
  CASE WHEN size IS NULL THEN 2147483647 ELSE greatest(0, size - (
    SELECT count(*)
    FROM pretixbase_quota_items AS sharing
    JOIN pretixbase_orderposition AS position ON position.item_id = sharing.item_id
    JOIN pretixbase_order AS orders ON orders.id = order_id
    WHERE sharing.quota_id = quota.id AND position.subevent_id IS NOT DISTINCT FROM quota.subevent_id
      AND NOT canceled AND NOT testmode AND status IN ('n', 'p'))) END AS available
FROM pretixbase_quota AS quota;

-- Of several quotas of an item and session, the scarcest counts.
CREATE VIEW feed.offers AS
SELECT item.id::text, event.organizer_id::text AS organization_id, jsonb_build_object(
  'organizationId', event.organizer_id::text, 'offerId', item.id::text, 'type', 'TICKET', 'eventId', event.id::text,
  'name', feed.translated(item.name), 'description', feed.translated(description), 'currency', event.currency,
  'minQuantityPerOrder', coalesce(min_per_order, 0), 'maxQuantityPerOrder', coalesce(max_per_order, 2147483647),
  'createdAt', to_timestamp(item.id), 'vatRate', 0.19, 'defaultMaximumCapacity', 2147483647,
  'pricing', (
    SELECT coalesce(
      jsonb_agg(jsonb_build_object('pricingId', 'v' || id::text, 'name', feed.translated(value),
        'price', coalesce(variation.default_price, item.default_price), 'resaleEnabled', false) ORDER BY position, id),
      jsonb_build_array(jsonb_build_object('pricingId', 'i' || item.id::text, 'name', feed.translated(item.name),
        'price', item.default_price, 'resaleEnabled', false)))
    FROM pretixbase_itemvariation AS variation WHERE item_id = item.id),
  'inventory', (
    SELECT jsonb_agg(jsonb_build_object(
      'inventoryId', id::text, 'sessionId', session, 'totalStock', total, 'availableStock', available) ORDER BY session)
    FROM (
      SELECT DISTINCT ON (session) stock.id, session, total, available
      FROM pretixbase_quota_items JOIN feed.stock ON stock.id = quota_id, feed.session(stock.event_id, subevent_id) AS session
      WHERE item_id = item.id
      ORDER BY session, available, stock.id) AS scarcest))::text AS line
FROM pretixbase_item AS item
JOIN pretixbase_event AS event ON event.id = event_id;
