-- Changes every column of every table in turn, and deletes rows of every table, and compares what the views show before
-- and after with what an export of the changes contains. Each change is undone. Prints a JSON array of the outcomes of
-- the changes that the constraints allow.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
\pset tuples_only on
\pset format unaligned
SET jit = off;
BEGIN;

CREATE VIEW pg_temp.lines AS
SELECT 'organizations' AS collection, * FROM feed.organizations
UNION ALL SELECT 'events', * FROM feed.events
UNION ALL SELECT 'sessions', * FROM feed.sessions
UNION ALL SELECT 'tickets', * FROM feed.tickets
UNION ALL SELECT 'orders', * FROM feed.orders
UNION ALL SELECT 'offers', * FROM feed.offers;

CREATE FUNCTION pg_temp.exported() RETURNS TABLE (collection text, id text) LANGUAGE sql AS $$
  SELECT 'organizations', id FROM feed.changed_organizations(pg_current_xact_id())
  UNION ALL SELECT 'events', id FROM feed.changed_events(pg_current_xact_id())
  UNION ALL SELECT 'sessions', id FROM feed.changed_sessions(pg_current_xact_id())
  UNION ALL SELECT 'tickets', id FROM feed.changed_tickets(pg_current_xact_id())
  UNION ALL SELECT 'orders', id FROM feed.changed_orders(pg_current_xact_id())
  UNION ALL SELECT 'offers', id FROM feed.changed_offers(pg_current_xact_id())
$$;

CREATE TEMPORARY TABLE lines_before ON COMMIT DROP AS SELECT * FROM lines;
CREATE TEMPORARY TABLE lines_after (LIKE lines_before) ON COMMIT DROP;
CREATE TEMPORARY TABLE different (LIKE lines_before) ON COMMIT DROP;
CREATE TEMPORARY TABLE outcomes (change text, lines bigint, missed text[]) ON COMMIT DROP;
-- Pending checks of foreign keys fail within the change.
SET CONSTRAINTS ALL IMMEDIATE;

-- Runs a statement, and undoes it. Returns whether it was allowed.
CREATE FUNCTION pg_temp.try(change text, statement text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  differing bigint;
  missed text[];
BEGIN
  BEGIN
    EXECUTE statement;
    INSERT INTO lines_after SELECT * FROM lines;
    INSERT INTO different
      (TABLE lines_after EXCEPT TABLE lines_before) UNION ALL (TABLE lines_before EXCEPT TABLE lines_after);
    SELECT count(*) INTO differing FROM different;
    SELECT array_agg(collection || ' ' || id) INTO missed FROM (
      SELECT collection, id FROM different AS row
      WHERE EXISTS (SELECT FROM lines_after AS kept WHERE (kept.collection, kept.id) = (row.collection, row.id))
      EXCEPT SELECT * FROM pg_temp.exported()
      UNION ALL
      SELECT collection, id FROM different AS row
      WHERE NOT EXISTS (SELECT FROM lines_after AS kept WHERE (kept.collection, kept.id) = (row.collection, row.id))
      EXCEPT SELECT line::jsonb ->> 'collection', line::jsonb ->> 'id' FROM feed.deletions(pg_current_xact_id())
    ) AS lost
    WHERE feed.is_known(feed.source(), pg_current_xact_id());
    RAISE 'undo' USING ERRCODE = 'FY000';
  EXCEPTION
    WHEN SQLSTATE 'FY000' THEN
      INSERT INTO outcomes VALUES (change, differing, coalesce(missed, '{}'));
      RETURN true;
    WHEN integrity_constraint_violation OR invalid_parameter_value THEN
      RETURN false;
  END;
END
$$;

-- Returns statements that change a column of some rows or of one, the most likely ones first.
CREATE FUNCTION pg_temp.updates(table_name text, column_name text, type text) RETURNS text[] LANGUAGE sql AS $$
  SELECT array_agg(format(
    'UPDATE %1$I AS changed SET %2$I = %3$s WHERE ctid IN (SELECT ctid FROM %1$I AS one ORDER BY md5(one::text) LIMIT %4$s)',
    table_name, column_name, value, count) ORDER BY count DESC)
  FROM (VALUES (1), (40)) AS counts (count), unnest(ARRAY[
    CASE type
      WHEN 'text' THEN format('coalesce(%I, '''') || ''x''', column_name)
      WHEN 'boolean' THEN format('NOT %I', column_name)
      WHEN 'timestamp with time zone' THEN format('coalesce(%I, now()) + interval ''1 hour''', column_name)
      WHEN 'ARRAY' THEN format('%I || ARRAY[''x'']', column_name)
      ELSE format('coalesce(%I, 0) + 1', column_name)
    END,
    format('(SELECT %2$I FROM %1$I AS other WHERE other.%2$I <> changed.%2$I ORDER BY md5(other::text) LIMIT 1)',
           table_name, column_name)
  ]) AS value
$$;

DO $$
DECLARE
  entry record;
BEGIN
  FOR entry IN
    SELECT * FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position
  LOOP
    PERFORM FROM unnest(pg_temp.updates(entry.table_name, entry.column_name, entry.data_type)) AS statement
    WHERE pg_temp.try(entry.table_name || '.' || entry.column_name, statement) LIMIT 1;
  END LOOP;
  FOR entry IN SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY table_name LOOP
    PERFORM pg_temp.try(entry.table_name, format(
      'DELETE FROM %1$I WHERE ctid IN (SELECT ctid FROM %1$I AS one ORDER BY md5(one::text) LIMIT 40)', entry.table_name));
    PERFORM pg_temp.try('TRUNCATE ' || entry.table_name, format('TRUNCATE %I CASCADE', entry.table_name));
  END LOOP;
END
$$;

SELECT jsonb_agg(jsonb_build_object('change', change, 'lines', lines, 'missed', missed)) FROM outcomes;
ROLLBACK;
