\ir ../start.sql

CREATE VIEW feed.organizations AS
SELECT id::text, jsonb_build_object('organizationId', id::text, 'name', name)::text AS line
FROM accounts WHERE deleted_at IS NULL;

-- Deleted accounts and events have no records. Without a start, an event has no session, so it is not there.
-- AT TIME ZONE tells that a `timestamp` is in UTC: a cast would take the zone of the session of the database.
CREATE VIEW feed.shown_events AS
SELECT event.id, account_id::text AS organization_id, event.title, event.description, event.location_details, event.currency,
  event.start_date AT TIME ZONE 'UTC' AS start_at, coalesce(extract(epoch FROM end_date - start_date)::integer / 60, 0) AS minutes,
  event.created_at AT TIME ZONE 'UTC' AS created_at, event.updated_at AT TIME ZONE 'UTC' AS updated_at,
  coalesce(event.timezone, account.timezone, 'Etc/UTC') AS zone
FROM events AS event JOIN accounts AS account ON account.id = account_id
WHERE event.deleted_at IS NULL AND account.deleted_at IS NULL AND start_date IS NOT NULL;

CREATE VIEW feed.events AS
SELECT id::text, organization_id, jsonb_build_object(
  'organizationId', organization_id, 'id', id::text, 'createdAt', created_at, 'updatedAt', updated_at, 'title', title,
  'description', description, 'venueName', location_details ->> 'venue_name', 'eventTimezone', zone, 'currency', currency,
  'venueAddress', CASE WHEN location_details ?& '{address_line_1,city,zip_or_postal_code,country}' THEN jsonb_build_object(
    'addressLine1', location_details -> 'address_line_1', 'city', location_details -> 'city',
    'postalCode', location_details -> 'zip_or_postal_code', 'countryCode', location_details -> 'country') END)::text AS line
FROM feed.shown_events;

CREATE VIEW feed.sessions AS
SELECT id::text, organization_id, jsonb_build_object(
  'organizationId', organization_id, 'eventId', id::text, 'id', id::text, 'startAt', feed.local_time(start_at, zone),
  'durationMinutes', greatest(0, minutes))::text AS line
FROM feed.shown_events;

-- The status of orders that are not carts.
CREATE FUNCTION feed.status(of_order text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE of_order WHEN 'COMPLETED' THEN 'FULFILLED' WHEN 'AWAITING_OFFLINE_PAYMENT' THEN 'PENDING' WHEN 'CANCELLED' THEN of_order END
$$;

CREATE VIEW feed.tickets AS
SELECT ticket.id::text, organization_id, jsonb_build_object(
  'organizationId', organization_id, 'ticketId', ticket.id::text, 'eventId', event.id::text,
  'status', CASE ticket.status WHEN 'ACTIVE' THEN feed.status(orders.status) ELSE ticket.status END,
  'offerId', product.id::text, 'offerName', product.title, 'priceLabel', price.label, 'listPrice', price.price,
  'issuedAt', ticket.created_at AT TIME ZONE 'UTC', 'updatedAt', ticket.updated_at AT TIME ZONE 'UTC',
  'eventSessionId', event.id::text, 'eventSessionStartAt', feed.local_time(start_at, zone), 'qrCode', ticket.public_id,
  'orderId', orders.id::text, 'orderNumber', orders.public_id, 'currency', orders.currency,
  'customer', jsonb_build_object(
    'customerId', lower(ticket.email), 'email', ticket.email, 'firstName', ticket.first_name, 'lastName', ticket.last_name),
  'attendeeForm', (
    SELECT jsonb_build_object('formId', event.id::text, 'submittedAt', max(answer.created_at) AT TIME ZONE 'UTC',
      'responses', jsonb_agg(jsonb_build_object('fieldId', question_id::text, 'value', CASE jsonb_typeof(answer)
        WHEN 'array' THEN ARRAY(SELECT jsonb_array_elements_text(answer)) ELSE ARRAY[answer #>> '{}'] END) ORDER BY answer.id))
    FROM question_answers AS answer WHERE attendee_id = ticket.id AND answer.deleted_at IS NULL HAVING count(*) > 0))::text AS line
FROM attendees AS ticket
JOIN orders ON orders.id = ticket.order_id
JOIN feed.shown_events AS event ON event.id = orders.event_id
JOIN products AS product ON product.id = ticket.product_id
JOIN product_prices AS price ON price.id = ticket.product_price_id
WHERE ticket.deleted_at IS NULL AND orders.deleted_at IS NULL AND feed.status(orders.status) IS NOT NULL;

CREATE VIEW feed.orders AS
SELECT orders.id::text, organization_id, jsonb_build_object(
  'organizationId', organization_id, 'orderId', orders.id::text, 'orderNumber', orders.public_id,
  'status', feed.status(orders.status), 'paymentStatus', orders.payment_status,
  'customer', CASE WHEN orders.email <> '' THEN jsonb_build_object('customerId', lower(orders.email), 'email', orders.email,
    'firstName', orders.first_name, 'lastName', orders.last_name) END,
  'currency', orders.currency, 'totalPaidPrice', orders.total_gross, 'refundedAmount', orders.total_refunded,
  'placedItems', (
    SELECT jsonb_agg(jsonb_build_object('offerId', product_id::text, 'offerName', item_name, 'offerType', 'TICKET',
      'quantity', quantity, 'unitPrice', coalesce(price_before_discount, price), 'unitPaidPrice', price,
      'eventId', event.id::text, 'sessionId', event.id::text) ORDER BY id)
    FROM order_items WHERE order_id = orders.id AND deleted_at IS NULL),
  'createdAt', orders.created_at AT TIME ZONE 'UTC',
  'updatedAt', coalesce(orders.updated_at, orders.created_at) AT TIME ZONE 'UTC')::text AS line
FROM orders
JOIN feed.shown_events AS event ON event.id = orders.event_id
WHERE orders.deleted_at IS NULL AND feed.status(orders.status) IS NOT NULL;

-- A price has stock of its own, and capacities that products share: the scarcest counts. Without any, there is no limit.
CREATE VIEW feed.offers AS
SELECT product.id::text, organization_id, jsonb_build_object(
  'organizationId', organization_id, 'offerId', product.id::text, 'type', 'TICKET', 'eventId', event.id::text,
  'name', product.title, 'description', product.description, 'currency', event.currency,
  'minQuantityPerOrder', coalesce(min_per_order, 1), 'maxQuantityPerOrder', coalesce(max_per_order, 2147483647),
  'createdAt', product.created_at AT TIME ZONE 'UTC', 'vatRate', 0, 'defaultMaximumCapacity', 2147483647,
  'pricing', (
    SELECT jsonb_agg(jsonb_build_object('pricingId', id::text, 'name', coalesce(label, product.title), 'price', price,
      'resaleEnabled', false) ORDER BY "order", id)
    FROM product_prices WHERE product_id = product.id AND deleted_at IS NULL),
  'inventory', jsonb_build_array((
    SELECT jsonb_build_object('inventoryId', id, 'sessionId', event.id::text, 'totalStock', total, 'availableStock', greatest(0, total - used))
    FROM (
      SELECT 'product-' || product.id::text AS id, coalesce(sum(initial_quantity_available), 2147483647) AS total,
        CASE WHEN count(initial_quantity_available) = count(*) THEN coalesce(sum(quantity_sold), 0) ELSE 0 END AS used
      FROM product_prices WHERE product_id = product.id AND deleted_at IS NULL
      UNION ALL
      SELECT 'capacity-' || capacity.id::text, capacity, used_capacity
      FROM product_capacity_assignments AS assigned JOIN capacity_assignments AS capacity ON capacity.id = capacity_assignment_id
      WHERE product_id = product.id AND assigned.deleted_at IS NULL AND capacity.deleted_at IS NULL AND capacity IS NOT NULL
    ) AS stock ORDER BY total - used, id LIMIT 1)))::text AS line
FROM products AS product
JOIN feed.shown_events AS event ON event.id = event_id
WHERE product.deleted_at IS NULL;
