-- The changes since a feed, kept by triggers. Run it after views.sql, which drops and creates the schema.
--
-- A change is noted with the id of its transaction, and a feed remembers the oldest id that was still in progress in
-- its database snapshot (`since`). A transaction that the snapshot does not show has no lower id, whenever it commits,
-- so that the next feed reads its changes. Changes may be read twice, which does no harm.
\set ON_ERROR_STOP on
BEGIN;

-- A changed row, or the row of another table that a changed row is part of. The organization is null where the changed
-- row does not have it. Rows are only added while a feed has not yet passed them.
CREATE TABLE feed.changes (
  kind            text NOT NULL,
  organization_id text,
  id              text NOT NULL,
  changed_in      xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX ON feed.changes (changed_in);

-- The transaction id below which changes are no longer complete: those before this file, and those that are trimmed.
CREATE TABLE feed.complete_from (xid xid8 NOT NULL);
INSERT INTO feed.complete_from VALUES (pg_current_xact_id());

-- Notes a changed row. Arguments: the kind, the column of the id, the column of the organization if there is one.
-- The owner's rights apply, so that an application needs none on this schema.
CREATE FUNCTION feed.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
  INSERT INTO feed.changes (kind, organization_id, id)
  SELECT DISTINCT TG_ARGV[0], version ->> TG_ARGV[2], version ->> TG_ARGV[1]
  FROM (VALUES (to_jsonb(OLD)), (to_jsonb(NEW))) AS versions (version)
  WHERE version IS NOT NULL;
  RETURN NULL;
END
$$;

-- Notes that a table was truncated.
CREATE FUNCTION feed.note_truncation() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
  INSERT INTO feed.changes (kind, id) VALUES ('truncation', TG_TABLE_NAME);
  RETURN NULL;
END
$$;

-- The tables that the views read. A part notes the record that it belongs to. A row that many records show, such as a
-- customer, notes itself: only a feed can find all of these records, since a trigger does not see those of
-- transactions that have not committed.
CREATE TEMPORARY TABLE watched (table_name text, kind text, id_column text, organization_column text) ON COMMIT DROP;
INSERT INTO watched VALUES
  ('organizations', 'organizations', 'id', 'id'),
  ('events', 'events', 'id', 'organization_id'),
  ('event_tags', 'events', 'event_id', NULL),
  ('event_sessions', 'sessions', 'id', 'organization_id'),
  ('event_sessions', 'events', 'event_id', 'organization_id'),
  ('offers', 'offers', 'id', 'organization_id'),
  ('offer_tags', 'offers', 'offer_id', NULL),
  ('offer_events', 'offers', 'offer_id', NULL),
  ('pricings', 'offers', 'offer_id', NULL),
  ('offer_options', 'offers', 'offer_id', NULL),
  ('inventory', 'offers', 'offer_id', NULL),
  ('bundle_contents', 'offers', 'bundle_id', NULL),
  ('orders', 'orders', 'id', 'organization_id'),
  ('order_addresses', 'orders', 'order_id', NULL),
  ('order_items', 'orders', 'order_id', NULL),
  ('order_opt_ins', 'orders', 'order_id', NULL),
  ('order_add_ons', 'orders', 'order_id', NULL),
  ('refunds', 'orders', 'order_id', NULL),
  ('tickets', 'tickets', 'id', 'organization_id'),
  ('attendee_forms', 'tickets', 'ticket_id', NULL),
  ('attendee_answers', 'tickets', 'ticket_id', NULL),
  ('venues', 'venues', 'id', 'organization_id'),
  ('tags', 'tags', 'id', 'organization_id'),
  ('customers', 'customers', 'id', 'organization_id'),
  ('sales_channels', 'sales channels', 'id', 'organization_id'),
  ('pickup_points', 'pickup points', 'id', 'organization_id'),
  ('services', 'services', 'id', 'organization_id');

DO $$
DECLARE
  entry watched;
BEGIN
  FOR entry IN SELECT * FROM watched LOOP
    EXECUTE format(
      'CREATE TRIGGER %I AFTER INSERT OR UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION feed.note(%s)',
      'feed_' || entry.kind, entry.table_name,
      concat_ws(', ', quote_literal(entry.kind), quote_literal(entry.id_column),
                quote_literal(entry.organization_column)));
    EXECUTE format(
      'CREATE OR REPLACE TRIGGER feed_truncation AFTER TRUNCATE ON %I EXECUTE FUNCTION feed.note_truncation()',
      entry.table_name);
  END LOOP;
END
$$;

-- Sessions, orders and tickets show local times. A kind of its own spares them every other change of their event.
CREATE TRIGGER feed_time_zones AFTER UPDATE OF time_zone ON events
FOR EACH ROW EXECUTE FUNCTION feed.note('time zones', 'id', 'organization_id');

CREATE FUNCTION feed.noted(since xid8, of_kind text) RETURNS TABLE (organization_id text, id text) LANGUAGE sql STABLE AS $$
  SELECT DISTINCT organization_id, id FROM feed.changes WHERE changed_in >= since AND kind = of_kind
$$;

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
  SELECT orders.id FROM feed.noted(since, 'customers') AS customer
  JOIN public.orders ON (orders.organization_id, customer_id) = (customer.organization_id, customer.id)
  UNION
  SELECT orders.id FROM feed.noted(since, 'sales channels') AS channel
  JOIN public.orders ON (orders.organization_id, sales_channel_id) = (channel.organization_id, channel.id)
  UNION
  SELECT orders.id FROM feed.noted(since, 'pickup points') AS point
  JOIN public.orders ON (orders.organization_id, pickup_point_id) = (point.organization_id, point.id)
  UNION
  SELECT order_id FROM feed.noted(since, 'services') AS service
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

-- The lines of deletions.ndjson: the ids of all records that may have changed. The build removes each from every
-- organization for which the export has no line of it. So a trigger needs no organization, and a record may move.
CREATE FUNCTION feed.deletions(since xid8) RETURNS TABLE (line text) LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('collection', collection, 'id', id)::text
  FROM (
    SELECT 'events' AS collection, id FROM feed.changed_events(since)
    UNION ALL SELECT 'sessions', id FROM feed.changed_sessions(since)
    UNION ALL SELECT 'tickets', id FROM feed.changed_tickets(since)
    UNION ALL SELECT 'orders', id FROM feed.changed_orders(since)
    UNION ALL SELECT 'offers', id FROM feed.changed_offers(since)
  ) AS changed
$$;

-- Identifies what transaction ids count in: cluster, timeline (a new one begins with a failover or a recovery to an
-- earlier time), database.
CREATE FUNCTION feed.source() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT concat_ws('-', system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8), pg_database.oid)
  FROM pg_control_system(), pg_database
  WHERE datname = current_database()
$$;

-- Whether the changes since a feed are known. They are not after a truncation or the deletion of an organization.
CREATE FUNCTION feed.is_known(of_source text, since xid8) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT of_source = feed.source()
    AND since >= (SELECT xid FROM feed.complete_from)
    AND NOT EXISTS (SELECT FROM feed.noted(since, 'truncation'))
    AND NOT EXISTS (
      SELECT FROM feed.noted(since, 'organizations') AS noted WHERE noted.id NOT IN (SELECT id FROM public.organizations))
$$;

-- Removes the changes that no feed needs: those before `since`, and those that a restored dump brought from a cluster
-- with higher transaction ids.
CREATE FUNCTION feed.trim(since xid8) RETURNS void LANGUAGE sql AS $$
  UPDATE feed.complete_from SET xid = since;
  DELETE FROM feed.changes WHERE changed_in < since OR changed_in >= pg_snapshot_xmax(pg_current_snapshot());
$$;

COMMIT;
