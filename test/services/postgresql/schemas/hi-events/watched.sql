INSERT INTO watched (table_name, kind, id_columns) VALUES
  ('accounts', 'organizations', 'id'),
  ('events', 'events', 'id'),
  ('products', 'offers', 'id'),
  ('product_prices', 'offers', 'product_id'),
  ('product_prices', 'prices', 'id'),
  ('capacity_assignments', 'capacities', 'id'),
  ('product_capacity_assignments', 'offers', 'product_id'),
  ('orders', 'orders', 'id'),
  ('order_items', 'orders', 'order_id'),
  ('attendees', 'tickets', 'id'),
  ('question_answers', 'tickets', 'attendee_id');

CREATE FUNCTION feed.changed_organizations(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'organizations')
$$;

-- The events of an account show its time zone.
CREATE FUNCTION feed.changed_events(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'events')
  UNION SELECT event.id::text FROM feed.noted(since, 'organizations') AS account
  JOIN public.events AS event ON account_id = account.id::bigint
$$;

CREATE FUNCTION feed.changed_sessions(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.changed_events(since)
$$;

CREATE FUNCTION feed.changed_orders(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'orders')
  UNION SELECT orders.id::text FROM feed.changed_events(since) AS event JOIN public.orders ON event_id = event.id::bigint
$$;

CREATE FUNCTION feed.changed_tickets(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'tickets')
  UNION SELECT ticket.id::text FROM feed.changed_orders(since) AS changed
  JOIN public.attendees AS ticket ON order_id = changed.id::bigint
  UNION SELECT ticket.id::text FROM feed.noted(since, 'offers') AS product
  JOIN public.attendees AS ticket ON product_id = product.id::bigint
  UNION SELECT ticket.id::text FROM feed.noted(since, 'prices') AS price
  JOIN public.attendees AS ticket ON product_price_id = price.id::bigint
$$;

CREATE FUNCTION feed.changed_offers(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'offers')
  UNION SELECT product_id::text FROM feed.noted(since, 'capacities') AS capacity
  JOIN public.product_capacity_assignments ON capacity_assignment_id = capacity.id::bigint
  UNION SELECT product.id::text FROM feed.changed_events(since) AS event
  JOIN public.products AS product ON event_id = event.id::bigint
$$;
