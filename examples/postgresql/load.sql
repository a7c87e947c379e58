-- Fills the empty tables of schema.sql from an import folder, such as one of `npm run sample`.
-- Run it by psql in that folder: (cd FOLDER && psql -f load.sql)
\set ON_ERROR_STOP on
BEGIN;

-- One row for each JSON line. In format csv with these two control characters, which JSON text never contains, backslashes
-- and quotation marks stay as they are.
CREATE TEMPORARY TABLE organization_lines (line jsonb) ON COMMIT DROP;
CREATE TEMPORARY TABLE event_lines (line jsonb) ON COMMIT DROP;
CREATE TEMPORARY TABLE session_lines (line jsonb) ON COMMIT DROP;
CREATE TEMPORARY TABLE offer_lines (line jsonb) ON COMMIT DROP;
CREATE TEMPORARY TABLE order_lines (line jsonb) ON COMMIT DROP;
CREATE TEMPORARY TABLE ticket_lines (line jsonb) ON COMMIT DROP;
\copy organization_lines FROM 'organizations.ndjson' WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')
\copy event_lines FROM 'events.ndjson' WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')
\copy session_lines FROM 'sessions.ndjson' WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')
\copy offer_lines FROM 'offers.ndjson' WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')
\copy order_lines FROM 'orders.ndjson' WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')
\copy ticket_lines FROM 'tickets.ndjson' WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')

INSERT INTO organizations SELECT line ->> 'organizationId', line ->> 'name' FROM organization_lines;

-- The import has no ids of venues and tags; they are made from the content.
CREATE FUNCTION pg_temp.venue_id(event jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT 'ven_' || md5(jsonb_build_array(event -> 'organizationId', event -> 'venueName', event -> 'venueAddress')::text)
  WHERE event ->> 'venueName' IS NOT NULL
$$;
CREATE FUNCTION pg_temp.tag_id(organization_id text, name text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT 'tag_' || md5(jsonb_build_array(organization_id, name)::text)
$$;

INSERT INTO venues
SELECT DISTINCT pg_temp.venue_id(line), line ->> 'organizationId', line ->> 'venueName',
       line #>> '{venueAddress,addressLine1}', line #>> '{venueAddress,addressLine2}', line #>> '{venueAddress,city}',
       line #>> '{venueAddress,postalCode}', line #>> '{venueAddress,countryCode}'
FROM event_lines
WHERE line ->> 'venueName' IS NOT NULL;

INSERT INTO tags
SELECT DISTINCT pg_temp.tag_id(line ->> 'organizationId', tag), line ->> 'organizationId', tag
FROM (SELECT line FROM event_lines UNION ALL SELECT line FROM offer_lines) AS tagged,
     jsonb_array_elements_text(line -> 'tags') AS tag;

INSERT INTO events
SELECT line ->> 'id', line ->> 'organizationId', pg_temp.venue_id(line), line ->> 'title', line ->> 'description',
       line ->> 'imageUrl', line ->> 'eventTimezone', line ->> 'currency',
       (line ->> 'createdAt')::timestamptz, (line ->> 'updatedAt')::timestamptz
FROM event_lines;

INSERT INTO event_tags
SELECT line ->> 'id', position, pg_temp.tag_id(line ->> 'organizationId', tag)
FROM event_lines, jsonb_array_elements_text(line -> 'tags') WITH ORDINALITY AS entry (tag, position);

INSERT INTO event_sessions
SELECT line ->> 'id', line ->> 'organizationId', line ->> 'eventId', (line ->> 'startAt')::timestamptz,
       (line ->> 'durationMinutes')::integer
FROM session_lines;

INSERT INTO offers
SELECT line ->> 'offerId', line ->> 'organizationId', line ->> 'type', line ->> 'name', line ->> 'description',
       line ->> 'currency', ARRAY(SELECT jsonb_array_elements_text(line -> 'images')),
       (line ->> 'minQuantityPerOrder')::integer, (line ->> 'maxQuantityPerOrder')::integer,
       (line ->> 'compareAtPrice')::numeric, (line ->> 'createdAt')::timestamptz, (line ->> 'vatRate')::numeric,
       line ->> 'eventId', (line ->> 'defaultMaximumCapacity')::integer, line ->> 'attendeeFormId',
       (line ->> 'defaultQuantity')::integer, line #>> '{variantOptionLabels,option1}',
       line #>> '{variantOptionLabels,option2}', line #>> '{variantOptionLabels,option3}',
       line ->> 'pricingId', (line ->> 'price')::numeric
FROM offer_lines;

INSERT INTO offer_tags
SELECT line ->> 'offerId', position, pg_temp.tag_id(line ->> 'organizationId', tag)
FROM offer_lines, jsonb_array_elements_text(line -> 'tags') WITH ORDINALITY AS entry (tag, position);

INSERT INTO offer_events
SELECT line ->> 'offerId', event_id FROM offer_lines, jsonb_array_elements_text(line -> 'heldByEventIds') AS event_id;

INSERT INTO pricings
SELECT entry ->> 'pricingId', line ->> 'offerId', position, entry ->> 'name', (entry ->> 'price')::numeric,
       entry ->> 'bundleOfferId', coalesce((entry ->> 'resaleEnabled')::boolean, false)
FROM offer_lines, jsonb_array_elements(line -> 'pricing') WITH ORDINALITY AS entries (entry, position);

INSERT INTO offer_options
SELECT line ->> 'offerId', position, entry ->> 'offerId', entry ->> 'pricingId'
FROM offer_lines, jsonb_array_elements(line -> 'optionOffers') WITH ORDINALITY AS entries (entry, position);

INSERT INTO inventory
SELECT entry ->> 'inventoryId', line ->> 'offerId', position, entry ->> 'sessionId', entry ->> 'option1',
       entry ->> 'option2', entry ->> 'option3', (entry ->> 'weightInGrams')::integer,
       (entry ->> 'totalStock')::integer, (entry ->> 'availableStock')::integer
FROM offer_lines, jsonb_array_elements(line -> 'inventory') WITH ORDINALITY AS entries (entry, position);

INSERT INTO bundle_contents
SELECT line ->> 'offerId', position, entry ->> 'offerId', (entry ->> 'quantity')::integer, (entry ->> 'price')::numeric
FROM offer_lines, jsonb_array_elements(line -> 'contains') WITH ORDINALITY AS entries (entry, position);

INSERT INTO customers
SELECT DISTINCT line ->> 'organizationId', line #>> '{customer,customerId}', line #>> '{customer,email}',
       line #>> '{customer,firstName}', line #>> '{customer,lastName}'
FROM order_lines;

-- Only tickets name the issuance channel.
INSERT INTO sales_channels
SELECT DISTINCT ON (1, 2) line ->> 'organizationId', line ->> 'salesChannelId', line ->> 'salesChannelName',
       coalesce(line ->> 'issuanceChannel', 'ONLINE')
FROM (SELECT line FROM ticket_lines UNION ALL SELECT line FROM order_lines) AS sales
ORDER BY 1, 2, line ->> 'issuanceChannel' NULLS LAST;

INSERT INTO pickup_points
SELECT DISTINCT line ->> 'organizationId', point ->> 'pickupPointId', point ->> 'name', point ->> 'addressLine1',
       point ->> 'city', point ->> 'postalCode', point ->> 'countryCode'
FROM order_lines, jsonb_path_query(line, '$.delivery.pickupPoint ? (@ != null)') AS point;

INSERT INTO services
SELECT DISTINCT line ->> 'organizationId', entry ->> 'serviceId', entry ->> 'category', entry ->> 'serviceName'
FROM order_lines, jsonb_array_elements(line -> 'addOns') AS entry;

INSERT INTO orders
SELECT line ->> 'orderId', line ->> 'organizationId', line ->> 'orderNumber', invoice_reference,
       line #>> '{customer,customerId}', line ->> 'salesChannelId', line ->> 'status', line ->> 'paymentStatus',
       line ->> 'paymentProvider', line ->> 'paymentMethod', line ->> 'currency', line ->> 'discountCode',
       (line ->> 'serviceFees')::numeric, (line ->> 'deliveryFees')::numeric, line #>> '{delivery,type}',
       line #>> '{delivery,carrierId}', line #>> '{delivery,pickupPoint,pickupPointId}',
       (line ->> 'createdAt')::timestamptz, (line ->> 'fulfilledAt')::timestamptz,
       (line ->> 'cancelledAt')::timestamptz, (line ->> 'updatedAt')::timestamptz
FROM order_lines
LEFT JOIN (
  SELECT DISTINCT line ->> 'orderId' AS order_id, line ->> 'invoiceReference' AS invoice_reference FROM ticket_lines
) AS invoices ON order_id = line ->> 'orderId';

INSERT INTO order_addresses
SELECT line ->> 'orderId', role, address ->> 'type', address ->> 'firstName', address ->> 'lastName',
       address ->> 'companyName', address ->> 'vatNumber', address ->> 'phone', address ->> 'addressLine1',
       address ->> 'addressLine2', address ->> 'city', address ->> 'postalCode', address ->> 'countryCode'
FROM order_lines,
     (VALUES ('billing', '{billingAddress}'::text[]), ('delivery', '{delivery,homeDeliveryAddress}')) AS roles (role, path),
     jsonb_path_query(line #> path, '$ ? (@ != null)') AS address;

INSERT INTO order_items (
  order_id, position, offer_id, inventory_id, session_id, offer_name, price_label, quantity, unit_price, unit_discount, unit_vat)
SELECT line ->> 'orderId', position, entry ->> 'offerId', entry ->> 'inventoryId', entry ->> 'sessionId',
       entry ->> 'offerName', entry ->> 'priceLabel', (entry ->> 'quantity')::integer, (entry ->> 'unitPrice')::numeric,
       (entry ->> 'unitDiscountAmount')::numeric, (entry ->> 'unitVatAmount')::numeric
FROM order_lines, jsonb_array_elements(line -> 'placedItems') WITH ORDINALITY AS entries (entry, position);

INSERT INTO order_opt_ins
SELECT line ->> 'orderId', position, entry ->> 'name', (entry ->> 'accepted')::boolean
FROM order_lines, jsonb_array_elements(line -> 'optIns') WITH ORDINALITY AS entries (entry, position);

INSERT INTO order_add_ons
SELECT line ->> 'orderId', position, line ->> 'organizationId', entry ->> 'serviceId',
       (entry ->> 'addOnPaidPrice')::numeric
FROM order_lines, jsonb_array_elements(line -> 'addOns') WITH ORDINALITY AS entries (entry, position);

INSERT INTO refunds (order_id, amount, refunded_at)
SELECT line ->> 'orderId', (line ->> 'refundedAmount')::numeric, (line ->> 'updatedAt')::timestamptz
FROM order_lines
WHERE line ->> 'refundedAmount' IS NOT NULL;

-- A ticket belongs to the item of its order with the same offer, session and price.
CREATE TEMPORARY TABLE sold ON COMMIT DROP AS
SELECT DISTINCT ON (order_id, offer_id, session_id, price_label)
       order_id, offer_id, session_id, price_label, id AS order_item_id
FROM order_items;
ANALYZE sold;

INSERT INTO tickets
SELECT line ->> 'ticketId', line ->> 'organizationId', order_item_id, line ->> 'status', line ->> 'qrCode',
       line #>> '{seatingInfo,blocName}', line #>> '{seatingInfo,seatRow}', line #>> '{seatingInfo,seatNumber}',
       (line ->> 'transferable')::boolean, (line ->> 'issuedAt')::timestamptz, (line ->> 'updatedAt')::timestamptz,
       (line ->> 'cancelledAt')::timestamptz
FROM ticket_lines
LEFT JOIN sold ON order_id = line ->> 'orderId' AND offer_id = line ->> 'offerId'
  AND session_id = line ->> 'eventSessionId' AND price_label = line ->> 'priceLabel';

INSERT INTO attendee_forms
SELECT line ->> 'ticketId', form ->> 'formId', (form ->> 'submittedAt')::timestamptz
FROM ticket_lines, jsonb_path_query(line, '$.attendeeForm ? (@ != null)') AS form;

INSERT INTO attendee_answers
SELECT line ->> 'ticketId', position, entry ->> 'fieldId', ARRAY(SELECT jsonb_array_elements_text(entry -> 'value'))
FROM ticket_lines,
     jsonb_path_query(line, '$.attendeeForm.responses') AS responses,
     jsonb_array_elements(responses) WITH ORDINALITY AS entries (entry, position);

COMMIT;
ANALYZE;
