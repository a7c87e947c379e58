-- What changes.sql watches, and which records show it: the part that depends on the tables and views.

-- The tables that the views read. A part notes the record that it belongs to. A row that many records show, such as a
-- customer, notes itself: only a feed can find all of these records, since a trigger does not see those of
-- transactions that have not committed.
INSERT INTO watched (table_name, kind, id_columns) VALUES
  ('organizations', 'organizations', 'id'),
  ('events', 'events', 'id'),
  ('event_tags', 'events', 'event_id'),
  ('event_sessions', 'sessions', 'id'),
  ('event_sessions', 'events', 'event_id'),
  ('offers', 'offers', 'id'),
  ('offer_tags', 'offers', 'offer_id'),
  ('offer_events', 'offers', 'offer_id'),
  ('pricings', 'offers', 'offer_id'),
  ('offer_options', 'offers', 'offer_id'),
  ('inventory', 'offers', 'offer_id'),
  ('bundle_contents', 'offers', 'bundle_id'),
  ('orders', 'orders', 'id'),
  ('order_addresses', 'orders', 'order_id'),
  ('order_items', 'orders', 'order_id'),
  ('order_opt_ins', 'orders', 'order_id'),
  ('order_add_ons', 'orders', 'order_id'),
  ('refunds', 'orders', 'order_id'),
  ('tickets', 'tickets', 'id'),
  ('attendee_forms', 'tickets', 'ticket_id'),
  ('attendee_answers', 'tickets', 'ticket_id'),
  ('venues', 'venues', 'id'),
  ('tags', 'tags', 'id');

-- Their records are found by the organization, too.
INSERT INTO watched VALUES
  ('customers', 'customers', 'id', 'organization_id'),
  ('sales_channels', 'sales channels', 'id', 'organization_id'),
  ('pickup_points', 'pickup points', 'id', 'organization_id'),
  ('services', 'services', 'id', 'organization_id');

-- Sessions, orders and tickets show local times. A kind of its own spares them every other change of their event.
CREATE TRIGGER feed_time_zones AFTER UPDATE OF time_zone ON events
FOR EACH ROW EXECUTE FUNCTION feed.note('time zones', 'id');

-- The ids of the records that may show something else since then, existing or not.
CREATE FUNCTION feed.changed_organizations(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'organizations')
$$;

CREATE FUNCTION feed.changed_events(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'events')
  UNION
  SELECT event.id FROM feed.noted(since, 'venues') AS venue JOIN public.events AS event ON event.venue_id = venue.id
  UNION
  SELECT event_id FROM feed.noted(since, 'tags') AS tag JOIN public.event_tags ON tag_id = tag.id
$$;

CREATE FUNCTION feed.changed_sessions(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'sessions')
  UNION
  SELECT session.id
  FROM feed.noted(since, 'time zones') AS event JOIN public.event_sessions AS session ON session.event_id = event.id
$$;

CREATE FUNCTION feed.changed_offers(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'offers')
  UNION
  SELECT offer_id FROM feed.noted(since, 'tags') AS tag JOIN public.offer_tags ON tag_id = tag.id
$$;

CREATE FUNCTION feed.changed_orders(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'orders')
  UNION
  SELECT order_id FROM feed.changed_sessions(since) AS session JOIN public.order_items ON session_id = session.id
  UNION
  SELECT orders.id FROM feed.noted_by_organization(since, 'customers') AS customer
  JOIN public.orders ON (orders.organization_id, customer_id) = (customer.organization_id, customer.id)
  UNION
  SELECT orders.id FROM feed.noted_by_organization(since, 'sales channels') AS channel
  JOIN public.orders ON (orders.organization_id, sales_channel_id) = (channel.organization_id, channel.id)
  UNION
  SELECT orders.id FROM feed.noted_by_organization(since, 'pickup points') AS point
  JOIN public.orders ON (orders.organization_id, pickup_point_id) = (point.organization_id, point.id)
  UNION
  SELECT order_id FROM feed.noted_by_organization(since, 'services') AS service
  JOIN public.order_add_ons AS add_on
    ON (add_on.organization_id, service_id) = (service.organization_id, service.id)
$$;

CREATE FUNCTION feed.changed_tickets(since xid8) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT id FROM feed.noted(since, 'tickets')
  UNION
  SELECT ticket.id
  FROM feed.changed_orders(since) AS changed
  JOIN public.order_items AS item ON item.order_id = changed.id
  JOIN public.tickets AS ticket ON ticket.order_item_id = item.id
$$;
