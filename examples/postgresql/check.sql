-- Checks that the feed notices every change that its lines show, and that its look-ups have indexes. It changes each
-- column of some rows of each table that the views of the schema `feed` read, to another value, to null and from null,
-- deletes and inserts rows, and compares the lines before and after with what an export of the changes contains. Each
-- change is undone.
\set ON_ERROR_STOP on
\pset tuples_only on
\pset format unaligned
SET client_min_messages = warning;
SET TimeZone = 'UTC';
SET jit = off;
-- A change that another session prevents counts as not tried.
SET lock_timeout = '5s';
BEGIN;
-- A foreign key fails within the change.
SET CONSTRAINTS ALL IMMEDIATE;

CREATE VIEW pg_temp.lines AS
SELECT collection, line::jsonb ->> 'organizationId' AS organization_id, id, md5(line) AS line
FROM (
  SELECT 'organizations' AS collection, id, line FROM feed.organizations
  UNION ALL SELECT 'events', id, line FROM feed.events
  UNION ALL SELECT 'sessions', id, line FROM feed.sessions
  UNION ALL SELECT 'tickets', id, line FROM feed.tickets
  UNION ALL SELECT 'orders', id, line FROM feed.orders
  UNION ALL SELECT 'offers', id, line FROM feed.offers
) AS records;

CREATE FUNCTION pg_temp.exported() RETURNS TABLE (collection text, id text) LANGUAGE sql AS $$
  SELECT 'organizations', id FROM feed.changed_organizations(pg_current_xact_id())
  UNION ALL SELECT 'events', id FROM feed.changed_events(pg_current_xact_id())
  UNION ALL SELECT 'sessions', id FROM feed.changed_sessions(pg_current_xact_id())
  UNION ALL SELECT 'tickets', id FROM feed.changed_tickets(pg_current_xact_id())
  UNION ALL SELECT 'orders', id FROM feed.changed_orders(pg_current_xact_id())
  UNION ALL SELECT 'offers', id FROM feed.changed_offers(pg_current_xact_id())
$$;

CREATE TEMPORARY TABLE lines_before ON COMMIT DROP AS TABLE lines;
CREATE TEMPORARY TABLE lines_after (LIKE lines_before) ON COMMIT DROP;
CREATE TEMPORARY TABLE missed (LIKE lines_before) ON COMMIT DROP;
-- `lines` is the number of lines that differ; null if no row could be changed.
CREATE TEMPORARY TABLE outcomes (change text, lines bigint, missed bigint, example text) ON COMMIT DROP;

-- The tables on which lines depend. Triggers cannot watch materialized views and foreign tables.
CREATE TEMPORARY VIEW tables AS
SELECT objid::regclass AS name, relkind <> 'r' AS is_unwatchable
FROM feed.objects JOIN pg_class ON pg_class.oid = objid
WHERE classid = 'pg_class'::regclass AND relkind IN ('r', 'm', 'f') AND relpersistence <> 't'
  AND relnamespace <> 'feed'::regnamespace;

-- Returns values for a column of any type, as expressions. Those that do not suit its type fail.
CREATE FUNCTION pg_temp.values_for(name regclass, col text) RETURNS text[] LANGUAGE sql AS $$
  SELECT array_agg(format(value, col, name))
  FROM unnest(ARRAY[
    'coalesce(%1$s, '''') || ''x''', '''x'' || substr(%1$s, 2)', 'coalesce(%1$s, 0) + 1', 'coalesce(%1$s, 0) - 1',
    'NOT coalesce(%1$s, false)', 'coalesce(%1$s, now()) + interval ''25 hours''',
    'coalesce(%1$s, ''00:00'') + interval ''1 hour''', 'array_append(%1$s, NULL)', 'gen_random_uuid()',
    'jsonb_build_object(''was'', %1$s)', '~ %1$s', '%1$s + 1', '''empty''',
    '(SELECT label FROM unnest(enum_range(%1$s)) AS label WHERE label IS DISTINCT FROM %1$s LIMIT 1)',
    '(SELECT other.%1$s FROM %2$s AS other WHERE other.%1$s::text <> changed.%1$s::text LIMIT 1)',
    'NULL'
  ]) AS value
$$;

CREATE FUNCTION pg_temp.is_valid(statement text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'EXPLAIN ' || statement USING '(0,0)'::tid;
  RETURN true;
EXCEPTION WHEN OTHERS THEN
  RETURN false;
END
$$;

-- Runs the first of the statements that succeeds on each row, and undoes all. If the views cannot show the result, tries
-- it without the first statement. In a statement, $1 is the place of the row, and $2 its `feed_place` in `saved`. A row is
-- prepared by a statement that returns its new place; this change does not count.
CREATE FUNCTION pg_temp.try(change text, of_rows tid[], statements text[], preparation text DEFAULT NULL)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  changed bigint;
  count bigint;
  places tid[];
  place tid;
  statement text;
  outcome outcomes;
  error text;
BEGIN
  FOR attempt IN 1 .. coalesce(cardinality(statements), 0) LOOP
    BEGIN
      places := of_rows;
      IF preparation IS NOT NULL THEN
        FOR i IN 1 .. cardinality(of_rows) LOOP
          BEGIN
            places[i] := NULL;
            EXECUTE preparation INTO place USING of_rows[i];
            places[i] := place;
          EXCEPTION WHEN OTHERS THEN
          END;
        END LOOP;
        DELETE FROM feed.changes WHERE changed_in = pg_current_xact_id();
        DELETE FROM lines_before;
        INSERT INTO lines_before TABLE lines;
      END IF;
      changed := 0;
      FOR i IN 1 .. cardinality(of_rows) LOOP
        FOREACH statement IN ARRAY statements[attempt:] LOOP
          EXIT WHEN places[i] IS NULL;
          BEGIN
            EXECUTE statement USING places[i], of_rows[i];
            GET DIAGNOSTICS count = ROW_COUNT;
            changed := changed + count;
            EXIT WHEN count > 0;
          EXCEPTION WHEN OTHERS THEN
          END;
        END LOOP;
      END LOOP;
      EXIT WHEN changed = 0;

      INSERT INTO lines_after TABLE lines;
      -- An organization that appears is exported as a whole, and one that disappears is noticed by itself.
      INSERT INTO missed
      SELECT * FROM (TABLE lines_after EXCEPT TABLE lines_before) AS line
      WHERE (collection, id) NOT IN (SELECT * FROM pg_temp.exported() AS found WHERE found.id IS NOT NULL)
        AND organization_id IN (SELECT id FROM lines_before WHERE collection = 'organizations')
      UNION ALL
      SELECT * FROM lines_before AS line
      WHERE NOT EXISTS (
          SELECT FROM lines_after AS kept
          WHERE (kept.collection, kept.organization_id, kept.id) = (line.collection, line.organization_id, line.id))
        AND (collection, id) NOT IN (SELECT * FROM pg_temp.exported() AS found WHERE found.id IS NOT NULL)
        AND organization_id IN (SELECT id FROM lines_after WHERE collection = 'organizations');
      SELECT try.change, count(DISTINCT (collection, organization_id, id)) INTO outcome.change, outcome.lines
      FROM ((TABLE lines_after EXCEPT TABLE lines_before) UNION (TABLE lines_before EXCEPT TABLE lines_after)) AS line;
      SELECT count(DISTINCT (collection, organization_id, id)),
             min(concat_ws(' ', collection, id, 'of', organization_id))
      INTO outcome.missed, outcome.example
      FROM missed
      WHERE NOT EXISTS (SELECT FROM feed.noted(pg_current_xact_id(), 'unknown column'));
      RAISE 'undo' USING ERRCODE = 'FY000';
    EXCEPTION
      WHEN SQLSTATE 'FY000' THEN
        INSERT INTO outcomes SELECT outcome.*;
        RETURN;
      WHEN OTHERS THEN
        error := SQLERRM;
    END;
  END LOOP;
  INSERT INTO outcomes VALUES (change || coalesce(' (' || error || ')', ''));
END
$$;

DO $$
DECLARE
  name regclass;
  columns text;
  some_rows tid[];
  with_value tid[];
  col record;
BEGIN
  FOR name IN SELECT tables.name FROM tables WHERE NOT is_unwatchable ORDER BY 1 LOOP
    SELECT string_agg(quote_ident(attname), ', ') INTO columns FROM pg_attribute
    WHERE attrelid = name AND attnum > 0 AND NOT attisdropped AND attgenerated = '';
    EXECUTE format(
      'CREATE TEMPORARY TABLE saved ON COMMIT DROP AS SELECT ctid AS feed_place, %s FROM %s AS one ORDER BY md5(one::text) LIMIT 40',
      columns, name);
    SELECT array_agg(feed_place) INTO some_rows FROM saved;
    IF some_rows IS NULL THEN
      INSERT INTO outcomes VALUES (format('all of %s, which is empty', name));
      DROP TABLE saved;
      CONTINUE;
    END IF;
    FOR col IN
      SELECT quote_ident(attname) AS name, attnotnull FROM pg_attribute
      WHERE attrelid = name AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum
    LOOP
      PERFORM pg_temp.try(format('%s.%s', name, col.name), some_rows, array_agg(statement ORDER BY position))
      FROM unnest(pg_temp.values_for(name, col.name)) WITH ORDINALITY AS listed (value, position), format(
        'UPDATE %1$s AS changed SET %2$s = %3$s WHERE ctid = $1 AND (%3$s)::text IS DISTINCT FROM %2$s::text',
        name, col.name, value) AS statement
      WHERE pg_temp.is_valid(statement);
      CONTINUE WHEN col.attnotnull;
      EXECUTE format('SELECT array_agg(feed_place) FROM saved WHERE %s IS NOT NULL', col.name) INTO with_value;
      CONTINUE WHEN with_value IS NULL;
      PERFORM pg_temp.try(format('%s.%s to null', name, col.name), with_value, ARRAY[cleared]),
              pg_temp.try(format('%s.%s from null', name, col.name), with_value, ARRAY[format(
                'UPDATE %1$s SET %2$s = (SELECT %2$s FROM saved WHERE feed_place = $2) WHERE ctid = $1', name, col.name)],
                cleared || ' RETURNING ctid')
      FROM format('UPDATE %s SET %s = NULL WHERE ctid = $1', name, col.name) AS cleared;
    END LOOP;
    PERFORM pg_temp.try(format('deleted rows of %s', name), some_rows, ARRAY[deleted]),
            pg_temp.try(format('inserted rows of %s', name), some_rows, ARRAY[format(
              'INSERT INTO %1$s (%2$s) OVERRIDING SYSTEM VALUE SELECT %2$s FROM saved WHERE feed_place = $2', name, columns)],
              deleted || ' RETURNING ctid')
    FROM format('DELETE FROM %s WHERE ctid = $1', name) AS deleted;
    DROP TABLE saved;
  END LOOP;
END
$$;

-- The tables of which a look-up of an id, or of the records that show a changed row, reads all rows, or all of an index.
-- Without these kinds of plans, and at these costs, a small table is read as a whole only without a suitable index.
SET LOCAL enable_seqscan = off;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SET LOCAL enable_material = off;
SET LOCAL cpu_tuple_cost = 1000;
SET LOCAL cpu_index_tuple_cost = 1000;
CREATE FUNCTION pg_temp.plan(query text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON, VERBOSE) ' || query INTO plan;
  RETURN plan;
END
$$;

-- For fewer rows, the planner may prefer a scan although there is an index.
CREATE FUNCTION pg_temp.has_many_rows(name regclass) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  count bigint;
BEGIN
  EXECUTE format('SELECT count(*) FROM (SELECT FROM %s LIMIT 50) AS some_rows', name) INTO count;
  RETURN count = 50;
END
$$;

-- An export of changes, as its queries are those of a feed.
SELECT token FROM feed.begin(gen_random_uuid(), 'check') \gset
SELECT token FROM feed.begin(:'token', NULL) \gset
CREATE TEMPORARY VIEW scans AS
WITH look_ups AS (
  SELECT name, query
  FROM unnest(ARRAY['organizations', 'events', 'sessions', 'tickets', 'orders', 'offers']) AS collection,
  feed.exports AS export, LATERAL (VALUES
    ('feed.' || collection, feed.query(export, collection)),
    ('feed.changed_' || collection, format('SELECT * FROM feed.changed_%s(''3'')', collection))) AS listed (name, query)
  WHERE token = :'token'
), nodes AS (
  SELECT name, node,
    regexp_replace(node ->> 'Index Cond', '(\m\w+|"[^"]+")\.', '', 'g') AS index_condition,
    regexp_replace(node ->> 'Filter', '(\m\w+|"[^"]+")\.', '', 'g') AS filter
  FROM look_ups, jsonb_path_query(
    pg_temp.plan(query), 'strict $.** ? (@."Node Type" == "Seq Scan" || exists(@."Index Name"))') AS node
), whole AS (
  SELECT name, filter, class.oid::regclass AS table_name
  FROM nodes JOIN pg_class AS class ON oid = to_regclass(format('%I.%I', node ->> 'Schema', node ->> 'Relation Name'))
  -- The ids of an export in a filter: the rows are found by another index.
  WHERE node ->> 'Node Type' = 'Seq Scan' OR node ->> 'Filter' ~ ' = ANY \(\$\d'
  UNION ALL
  -- An index without a condition for its first key.
  SELECT name, filter, indrelid
  FROM nodes JOIN pg_class AS class ON relname = node ->> 'Index Name' JOIN pg_index ON indexrelid = class.oid
  WHERE index_condition IS NULL
     OR position(translate(pg_get_indexdef(indexrelid, 1, false), '()', '') IN translate(index_condition, '()', '')) = 0
)
SELECT DISTINCT name, coalesce(pg_partition_root(table_name), table_name) AS table_name, (
  SELECT max(substring(clause FROM '^\((.*) = ANY \(.*\)\)$'))
  FROM regexp_split_to_table(regexp_replace(filter, '^\((.* AND .*)\)$', '\1'), ' AND ') AS clause) AS expression
FROM whole WHERE pg_temp.has_many_rows(table_name);

SELECT format('not noticed: %s (%s of %s lines that differ, such as %s)', change, missed, lines, example)
FROM outcomes WHERE missed > 0;
SELECT format('not noticed: %s, which no trigger can watch', name) FROM tables WHERE is_unwatchable;
SELECT format('no index: %s reads all of %s%s', name, table_name,
              '; CREATE INDEX ON ' || table_name || ' ((' || expression || '))') FROM scans;
SELECT format('not noticed: inserted rows of %s, which has no trigger for them', name)
FROM outcomes JOIN tables ON change = 'inserted rows of ' || name
WHERE lines IS NULL AND NOT EXISTS (
  SELECT FROM pg_trigger WHERE tgrelid = name AND tgfoid = 'feed.note'::regproc AND tgtype & 4 = 4 AND tgqual IS NULL);
SELECT 'could not be changed: ' || string_agg(change, ', ') FROM outcomes
WHERE lines IS NULL AND change NOT LIKE '% null' AND change NOT LIKE 'inserted %' HAVING count(*) > 0;
SELECT format('%s changes, of which %s change lines, %s are not noticed', count(lines), count(nullif(lines, 0)),
              count(nullif(missed, 0))) FROM outcomes;
ROLLBACK;
