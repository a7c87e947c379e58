INSERT INTO watched (table_name, kind, id_columns) VALUES
  ('organization', 'organizations', 'id'),
  ('event', 'events', 'id'),
  ('event_description_text', 'texts', 'event_id_fk'),
  ('ticket_category', 'categories', 'id'),
  ('ticket_category', 'sales', 'event_id'),
  ('additional_service', 'services', 'id'),
  ('additional_service_description', 'services', 'additional_service_id_fk'),
  ('tickets_reservation', 'orders', 'id'),
  ('ticket', 'tickets', 'uuid'),
  ('ticket', 'orders', 'tickets_reservation_id'),
  ('ticket', 'sales', 'event_id'),
  ('additional_service_item', 'orders', 'tickets_reservation_uuid'),
  ('additional_service_item', 'services', 'additional_service_id_fk');

CREATE FUNCTION feed.changed_organizations(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'organizations')
$$;

CREATE FUNCTION feed.changed_events(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'events') UNION SELECT id FROM feed.noted(since, 'texts')
$$;

CREATE FUNCTION feed.changed_sessions(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'events')
$$;

CREATE FUNCTION feed.changed_orders(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'orders')
  UNION SELECT reservation.id::text FROM feed.noted(since, 'events') AS event
  JOIN public.tickets_reservation AS reservation ON event_id_fk = event.id::integer
$$;

CREATE FUNCTION feed.changed_tickets(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'tickets')
  UNION SELECT uuid::text FROM feed.changed_orders(since) AS changed
  JOIN public.ticket ON tickets_reservation_id = changed.id::character(36)
  UNION SELECT uuid::text FROM feed.noted(since, 'categories') AS category JOIN public.ticket ON category_id = category.id::integer
$$;

-- Each sale changes the stock of the categories of its event.
CREATE FUNCTION feed.changed_offers(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  WITH events AS (SELECT id::integer FROM feed.noted(since, 'events') UNION SELECT id::integer FROM feed.noted(since, 'sales'))
  SELECT 'c' || id FROM feed.noted(since, 'categories')
  UNION SELECT 'a' || id FROM feed.noted(since, 'services')
  UNION SELECT 'c' || category.id::text FROM events JOIN public.ticket_category AS category ON event_id = events.id
  UNION SELECT 'a' || service.id::text FROM events JOIN public.additional_service AS service ON event_id_fk = events.id
$$;
