INSERT INTO watched (table_name, kind, id_columns) VALUES
  ('box.companies', 'organizations', 'id'),
  ('box.shows', 'events', 'id'),
  ('box.dates', 'sessions', 'show-number'),
  ('box.dates', 'events', 'show'),
  ('box.buyers', 'buyers', 'id'),
  ('box.tickets', 'tickets', 'order-number'),
  ('box.orders', 'orders', 'id');

CREATE FUNCTION feed.changed_organizations(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'organizations')
$$;

CREATE FUNCTION feed.changed_events(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'events')
$$;

CREATE FUNCTION feed.changed_sessions(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'sessions')
  UNION
  SELECT concat_ws('-', show, number) FROM feed.noted(since, 'events') AS event JOIN box.dates ON show = event.id::uuid
$$;

CREATE FUNCTION feed.changed_orders(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'orders')
  UNION
  SELECT orders.id::text FROM feed.noted(since, 'events') AS event JOIN box.orders ON show = event.id::uuid
  UNION
  SELECT orders.id::text FROM feed.noted(since, 'buyers') AS buyer JOIN box.orders ON orders.buyer = buyer.id::bigint
$$;

CREATE FUNCTION feed.changed_tickets(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'tickets')
  UNION
  SELECT concat_ws('-', "order", number)
  FROM feed.changed_orders(since) AS changed JOIN box.tickets ON "order" = changed.id::bigint
$$;

CREATE FUNCTION feed.changed_offers(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'offers')
$$;
