-- The import folder as views: one row for each record, with its id, its organization and the JSON of its line. jsonb
-- writes no newline or other control character within a value, so that a row is a line.
-- Lists have a total order, so that a record that did not change has the same line.
-- Timestamps take the time zone of the session that reads them; a feed sets TimeZone to UTC.

\set ON_ERROR_STOP on
BEGIN;
SET LOCAL client_min_messages = warning;
DROP SCHEMA IF EXISTS feed CASCADE;
CREATE SCHEMA feed;

CREATE VIEW feed.organizations AS
SELECT id, jsonb_build_object('organizationId', id, 'name', name)::text AS line
FROM organizations;

-- A snapshot has no event without a session: an event appears with its first session and goes with its last one.
CREATE VIEW feed.events AS
SELECT event.id, event.organization_id, jsonb_build_object(
  'organizationId', event.organization_id,
  'id', event.id,
  'createdAt', event.created_at,
  'updatedAt', event.updated_at,
  'title', event.title,
  'description', event.description,
  'imageUrl', event.image_url,
  'venueName', venue.name,
  'venueAddress', CASE WHEN venue.address_line1 IS NOT NULL THEN jsonb_build_object(
    'addressLine1', venue.address_line1,
    'addressLine2', venue.address_line2,
    'city', venue.city,
    'postalCode', venue.postal_code,
    'countryCode', venue.country_code) END,
  'eventTimezone', event.time_zone,
  'currency', event.currency,
  'tags', ARRAY(
    SELECT tag.name FROM event_tags JOIN tags AS tag ON tag.id = tag_id WHERE event_id = event.id ORDER BY position)
)::text AS line
FROM events AS event
LEFT JOIN venues AS venue ON venue.id = event.venue_id
WHERE EXISTS (SELECT FROM event_sessions WHERE event_id = event.id);

-- The known time zones: an unknown one must not fail the export of all.
CREATE TABLE feed.time_zones (name text PRIMARY KEY);
INSERT INTO feed.time_zones SELECT name FROM pg_timezone_names;

-- Returns the local time of an event in ISO 8601 with its offset, such as 2027-03-14T20:00:00+01:00. `zone` is one of
-- these, or null. A `timestamp` without time zone would be cast in UTC: convert it by AT TIME ZONE before.
CREATE FUNCTION feed.local_time(instant timestamptz, zone text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT rtrim(rtrim(to_char(instant AT TIME ZONE zone, 'YYYY-MM-DD"T"HH24:MI:SS.US'), '0'), '.')
    || CASE WHEN instant AT TIME ZONE zone < instant AT TIME ZONE 'UTC' THEN '-' ELSE '+' END
    || to_char(greatest(instant AT TIME ZONE zone, instant AT TIME ZONE 'UTC')
             - least(instant AT TIME ZONE zone, instant AT TIME ZONE 'UTC'), 'HH24:MI')
$$;

CREATE VIEW feed.sessions AS
SELECT session.id, session.organization_id, jsonb_build_object(
  'organizationId', session.organization_id,
  'eventId', session.event_id,
  'id', session.id,
  'startAt', feed.local_time(session.start_at, zone.name),
  'durationMinutes', session.duration_minutes
)::text AS line
FROM event_sessions AS session
JOIN events AS event ON event.id = session.event_id
LEFT JOIN feed.time_zones AS zone ON zone.name = event.time_zone;

CREATE VIEW feed.tickets AS
SELECT ticket.id, ticket.organization_id, jsonb_build_object(
  'organizationId', ticket.organization_id,
  'ticketId', ticket.id,
  'eventId', session.event_id,
  'invoiceReference', orders.invoice_reference,
  'status', ticket.status,
  'offerId', item.offer_id,
  'offerName', item.offer_name,
  'issuedAt', ticket.issued_at,
  'updatedAt', ticket.updated_at,
  'cancelledAt', ticket.cancelled_at,
  'eventSessionId', item.session_id,
  'eventSessionStartAt', feed.local_time(session.start_at, zone.name),
  'seatingInfo', CASE WHEN ticket.bloc IS NOT NULL THEN jsonb_build_object(
    'blocName', ticket.bloc,
    'seatRow', ticket.seat_row,
    'seatNumber', ticket.seat_number) END,
  'qrCode', ticket.qr_code,
  'issuanceChannel', channel.issuance_channel,
  'salesChannelName', channel.name,
  'salesChannelId', channel.id,
  'orderId', item.order_id,
  'orderNumber', orders.number,
  'priceLabel', item.price_label,
  'listPrice', item.unit_price,
  'finalPaidPrice', item.unit_price - item.unit_discount,
  'vat', item.unit_vat,
  'currency', orders.currency,
  'transferable', ticket.transferable,
  'customer', jsonb_build_object(
    'customerId', customer.id,
    'firstName', customer.first_name,
    'lastName', customer.last_name,
    'email', customer.email),
  'attendeeForm', (
    SELECT jsonb_build_object(
      'formId', form.form_id,
      'submittedAt', form.submitted_at,
      'responses', coalesce((
        SELECT jsonb_agg(jsonb_build_object('fieldId', field_id, 'value', answers) ORDER BY position)
        FROM attendee_answers WHERE ticket_id = form.ticket_id), '[]'))
    FROM attendee_forms AS form WHERE form.ticket_id = ticket.id)
)::text AS line
FROM tickets AS ticket
JOIN order_items AS item ON item.id = ticket.order_item_id
JOIN orders ON orders.id = item.order_id
JOIN event_sessions AS session ON session.id = item.session_id
JOIN events AS event ON event.id = session.event_id
LEFT JOIN feed.time_zones AS zone ON zone.name = event.time_zone
JOIN customers AS customer ON (customer.organization_id, customer.id) = (orders.organization_id, orders.customer_id)
JOIN sales_channels AS channel
  ON (channel.organization_id, channel.id) = (orders.organization_id, orders.sales_channel_id);

-- Returns an address of an order, or null.
CREATE FUNCTION feed.address(of_order text, of_role text) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object(
    'type', type,
    'firstName', first_name,
    'lastName', last_name,
    'companyName', company_name,
    'vatNumber', vat_number,
    'phone', phone,
    'addressLine1', address_line1,
    'addressLine2', address_line2,
    'city', city,
    'postalCode', postal_code,
    'countryCode', country_code)
  FROM public.order_addresses WHERE order_id = of_order AND role = of_role
$$;

CREATE VIEW feed.orders AS
SELECT orders.id, orders.organization_id, jsonb_build_object(
  'organizationId', orders.organization_id,
  'orderId', orders.id,
  'orderNumber', orders.number,
  'salesChannelId', channel.id,
  'salesChannelName', channel.name,
  'status', orders.status,
  'customer', jsonb_build_object(
    'customerId', customer.id,
    'email', customer.email,
    'firstName', customer.first_name,
    'lastName', customer.last_name),
  'billingAddress', feed.address(orders.id, 'billing'),
  'currency', orders.currency,
  'totalPrice', items.price + orders.service_fees + orders.delivery_fees + add_ons.price,
  'totalPaidPrice', items.price - items.discount + orders.service_fees + orders.delivery_fees + add_ons.price,
  'subtotalPrice', items.price,
  'subtotalPaidPrice', items.price - items.discount,
  'discountAmount', items.discount,
  'discountCode', orders.discount_code,
  'paymentProvider', orders.payment_provider,
  'paymentMethod', orders.payment_method,
  'serviceFees', orders.service_fees,
  'deliveryFees', orders.delivery_fees,
  'totalVatAmount', items.vat,
  'delivery', jsonb_build_object(
    'type', orders.delivery_type,
    'carrierId', orders.carrier_id,
    'homeDeliveryAddress', feed.address(orders.id, 'delivery'),
    'pickupPoint', CASE WHEN point.id IS NOT NULL THEN jsonb_build_object(
      'pickupPointId', point.id,
      'name', point.name,
      'addressLine1', point.address_line1,
      'city', point.city,
      'postalCode', point.postal_code,
      'countryCode', point.country_code) END),
  'placedItems', items.list,
  'optIns', coalesce((
    SELECT jsonb_agg(jsonb_build_object('name', name, 'accepted', accepted) ORDER BY position)
    FROM order_opt_ins WHERE order_id = orders.id), '[]'),
  'createdAt', orders.created_at,
  'fulfilledAt', orders.fulfilled_at,
  'cancelledAt', orders.cancelled_at,
  'updatedAt', orders.updated_at,
  'paymentStatus', orders.payment_status,
  'refundedAmount', (SELECT sum(amount) FROM refunds WHERE order_id = orders.id),
  'ticketsProtected', add_ons.insured,
  'addOns', add_ons.list
)::text AS line
FROM orders
JOIN customers AS customer ON (customer.organization_id, customer.id) = (orders.organization_id, orders.customer_id)
JOIN sales_channels AS channel
  ON (channel.organization_id, channel.id) = (orders.organization_id, orders.sales_channel_id)
LEFT JOIN pickup_points AS point
  ON (point.organization_id, point.id) = (orders.organization_id, orders.pickup_point_id)
CROSS JOIN LATERAL (
  SELECT
    coalesce(sum(item.quantity * item.unit_price), 0) AS price,
    coalesce(sum(item.quantity * item.unit_discount), 0) AS discount,
    coalesce(sum(item.quantity * item.unit_vat), 0) AS vat,
    coalesce(jsonb_agg(jsonb_build_object(
      'offerId', item.offer_id,
      'offerName', item.offer_name,
      'inventoryId', item.inventory_id,
      'quantity', item.quantity,
      'unitPrice', item.unit_price,
      'unitPaidPrice', item.unit_price - item.unit_discount,
      'unitDiscountAmount', item.unit_discount,
      'discountCode', CASE WHEN item.unit_discount > 0 THEN orders.discount_code END,
      'priceLabel', item.price_label,
      'offerType', offer.type,
      'eventId', session.event_id,
      'sessionId', item.session_id,
      'unitVatAmount', item.unit_vat) ORDER BY item.position, item.id), '[]') AS list
  FROM order_items AS item
  JOIN offers AS offer ON offer.id = item.offer_id
  LEFT JOIN event_sessions AS session ON session.id = item.session_id
  WHERE item.order_id = orders.id
) AS items
CROSS JOIN LATERAL (
  SELECT
    coalesce(sum(add_on.price), 0) AS price,
    coalesce(bool_or(service.category = 'INSURANCE'), false) AS insured,
    coalesce(jsonb_agg(jsonb_build_object(
      'category', service.category,
      'serviceId', service.id,
      'serviceName', service.name,
      'addOnPaidPrice', add_on.price) ORDER BY add_on.position), '[]') AS list
  FROM order_add_ons AS add_on
  JOIN services AS service ON (service.organization_id, service.id) = (add_on.organization_id, add_on.service_id)
  WHERE add_on.order_id = orders.id
) AS add_ons;

CREATE VIEW feed.offers AS
SELECT offer.id, offer.organization_id, (jsonb_build_object(
  'organizationId', offer.organization_id,
  'offerId', offer.id,
  'type', offer.type,
  'name', offer.name,
  'description', offer.description,
  'currency', offer.currency,
  'images', offer.image_urls,
  'tags', ARRAY(
    SELECT tag.name FROM offer_tags JOIN tags AS tag ON tag.id = tag_id WHERE offer_id = offer.id ORDER BY position),
  'minQuantityPerOrder', offer.min_quantity,
  'maxQuantityPerOrder', offer.max_quantity,
  'compareAtPrice', offer.compare_at_price,
  'createdAt', offer.created_at
) || CASE offer.type
  WHEN 'TICKET' THEN jsonb_build_object(
    'eventId', offer.event_id,
    'vatRate', offer.vat_rate,
    'defaultMaximumCapacity', offer.default_maximum_capacity,
    'attendeeFormId', offer.attendee_form_id,
    'pricing', coalesce((
      SELECT jsonb_agg(jsonb_build_object(
        'pricingId', id,
        'name', name,
        'price', price,
        'bundleOfferId', bundle_id,
        'resaleEnabled', resale_enabled) ORDER BY position, id)
      FROM pricings WHERE offer_id = offer.id), '[]'),
    'optionOffers', coalesce((
      SELECT jsonb_agg(jsonb_build_object('offerId', option_offer_id, 'pricingId', pricing_id) ORDER BY position)
      FROM offer_options WHERE offer_id = offer.id), '[]'),
    'inventory', coalesce((
      SELECT jsonb_agg(jsonb_build_object(
        'inventoryId', id,
        'sessionId', session_id,
        'totalStock', total_stock,
        'availableStock', available_stock) ORDER BY position, id)
      FROM inventory WHERE offer_id = offer.id), '[]'))
  WHEN 'PRODUCT' THEN jsonb_build_object(
    'heldByEventIds', ARRAY(SELECT event_id FROM offer_events WHERE offer_id = offer.id ORDER BY event_id),
    'vatRate', offer.vat_rate,
    'defaultQuantity', offer.default_quantity,
    'variantOptionLabels', jsonb_build_object(
      'option1', offer.option1_label,
      'option2', offer.option2_label,
      'option3', offer.option3_label),
    'pricing', coalesce((
      SELECT jsonb_agg(jsonb_build_object(
        'pricingId', id,
        'name', name,
        'price', price,
        'bundleOfferId', bundle_id) ORDER BY position, id)
      FROM pricings WHERE offer_id = offer.id), '[]'),
    'inventory', coalesce((
      SELECT jsonb_agg(jsonb_build_object(
        'inventoryId', id,
        'option1', option1,
        'option2', option2,
        'option3', option3,
        'totalStock', total_stock,
        'availableStock', available_stock,
        'weightInGrams', weight_in_grams) ORDER BY position, id)
      FROM inventory WHERE offer_id = offer.id), '[]'))
  WHEN 'BUNDLE' THEN jsonb_build_object(
    'heldByEventIds', ARRAY(SELECT event_id FROM offer_events WHERE offer_id = offer.id ORDER BY event_id),
    'pricingId', offer.bundle_pricing_id,
    'price', offer.bundle_price,
    'contains', coalesce((
      SELECT jsonb_agg(jsonb_build_object('offerId', offer_id, 'quantity', quantity, 'price', price) ORDER BY position)
      FROM bundle_contents WHERE bundle_id = offer.id), '[]'))
END)::text AS line
FROM offers AS offer;

COMMIT;
