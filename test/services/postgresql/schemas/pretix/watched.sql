INSERT INTO watched (table_name, kind, id_columns) VALUES
  ('pretixbase_organizer', 'organizations', 'id'),
  ('pretixbase_organizer_settingsstore', 'settings', 'object_id'),
  ('pretixbase_event', 'events', 'id'),
  ('pretixbase_event_settingsstore', 'events', 'object_id'),
  ('pretixbase_subevent', 'dates', 'id'),
  ('pretixbase_subevent', 'series', 'event_id'),
  ('pretixbase_item', 'items', 'id'),
  ('pretixbase_itemvariation', 'items', 'item_id'),
  ('pretixbase_quota', 'quotas', 'id'),
  ('pretixbase_quota_items', 'quotas', 'quota_id'),
  ('pretixbase_quota_items', 'sharing', 'item_id'),
  ('pretixbase_saleschannel', 'channels', 'id'),
  ('pretixbase_customer', 'customers', 'id'),
  ('pretixbase_seat', 'seats', 'id'),
  ('pretixbase_order', 'orders', 'id'),
  ('pretixbase_orderposition', 'tickets', 'id'),
  ('pretixbase_orderposition', 'orders', 'order_id'),
  ('pretixbase_orderposition', 'sold', 'item_id'),
  ('pretixbase_orderrefund', 'orders', 'order_id');

CREATE FUNCTION feed.changed_organizations(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'organizations')
$$;

CREATE FUNCTION feed.changed_zones(since xid8) RETURNS TABLE (id bigint) LANGUAGE sql STABLE AS $$
  SELECT id::bigint FROM feed.noted(since, 'events')
  UNION SELECT event.id FROM feed.noted(since, 'settings') AS organizer
  JOIN public.pretixbase_event AS event ON organizer_id = organizer.id::bigint
$$;

CREATE FUNCTION feed.changed_events(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id::text FROM feed.changed_zones(since)
  UNION SELECT id FROM feed.noted(since, 'series')
$$;

CREATE FUNCTION feed.changed_sessions(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT 's' || id FROM feed.noted(since, 'dates')
  UNION SELECT 'e' || id::text FROM feed.changed_zones(since)
  UNION SELECT 's' || date.id::text FROM feed.changed_zones(since) AS event JOIN public.pretixbase_subevent AS date ON event_id = event.id
$$;

CREATE FUNCTION feed.changed_orders(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'orders')
  UNION SELECT orders.id::text FROM feed.changed_zones(since) AS event JOIN public.pretixbase_order AS orders ON event_id = event.id
  UNION SELECT order_id::text FROM feed.noted(since, 'items') AS item
  JOIN public.pretixbase_orderposition ON item_id = item.id::bigint
  UNION SELECT orders.id::text FROM feed.noted(since, 'channels') AS channel
  JOIN public.pretixbase_order AS orders ON sales_channel_id = channel.id::bigint
  UNION SELECT orders.id::text FROM feed.noted(since, 'customers') AS customer
  JOIN public.pretixbase_order AS orders ON customer_id = customer.id::bigint
$$;

CREATE FUNCTION feed.changed_tickets(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'tickets')
  UNION SELECT position.id::text FROM feed.changed_orders(since) AS changed
  JOIN public.pretixbase_orderposition AS position ON order_id = changed.id::bigint
  UNION SELECT position.id::text FROM feed.noted(since, 'dates') AS date
  JOIN public.pretixbase_orderposition AS position ON subevent_id = date.id::bigint
  UNION SELECT position.id::text FROM feed.noted(since, 'seats') AS seat
  JOIN public.pretixbase_orderposition AS position ON seat_id = seat.id::bigint
$$;

-- A sale changes the stock of each item that shares a quota with the sold one.
CREATE FUNCTION feed.changed_offers(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  WITH sold AS (
    SELECT id::bigint FROM feed.noted(since, 'sold')
    UNION SELECT item_id FROM feed.noted(since, 'orders') AS changed
    JOIN public.pretixbase_orderposition ON order_id = changed.id::bigint
  ), quotas AS (
    SELECT id::bigint FROM feed.noted(since, 'quotas')
    UNION SELECT quota_id FROM sold JOIN public.pretixbase_quota_items ON item_id = sold.id
  )
  SELECT id FROM feed.noted(since, 'items')
  UNION SELECT id FROM feed.noted(since, 'sharing')
  UNION SELECT item_id::text FROM quotas JOIN public.pretixbase_quota_items ON quota_id = quotas.id
  UNION SELECT item.id::text FROM feed.noted(since, 'events') AS event
  JOIN public.pretixbase_item AS item ON event_id = event.id::bigint
$$;
