-- Checks that the feed notices every change that its lines show, and that its look-ups have indexes. It changes each
-- column of some rows of each table that the views of the schema `feed` read, deletes rows, and compares the lines
-- before and after with what an export of the changes contains. Each change is undone.
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

CREATE FUNCTION pg_temp.deleted() RETURNS TABLE (collection text, id text) LANGUAGE sql AS $$
  SELECT line::jsonb ->> 'collection', line::jsonb ->> 'id' FROM feed.deletions(pg_current_xact_id())
$$;

CREATE TEMPORARY TABLE lines_before ON COMMIT DROP AS TABLE lines;
CREATE TEMPORARY TABLE lines_after (LIKE lines_before) ON COMMIT DROP;
CREATE TEMPORARY TABLE missed (LIKE lines_before) ON COMMIT DROP;
-- `lines` is the number of lines that differ; null if no row could be changed.
CREATE TEMPORARY TABLE outcomes (change text, lines bigint, missed bigint, example text) ON COMMIT DROP;

-- The tables that the views read, also through other views, partitions, and functions that name them. Triggers cannot
-- watch materialized views and foreign tables.
CREATE TEMPORARY VIEW tables AS
WITH RECURSIVE bodies AS MATERIALIZED (
  SELECT pg_get_functiondef(oid) AS body FROM pg_proc
  WHERE prokind <> 'a' AND pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
), relations AS (
  SELECT oid FROM pg_class AS class
  WHERE relnamespace = 'feed'::regnamespace AND relkind = 'v'
     OR relkind IN ('r', 'p', 'v') AND EXISTS (SELECT FROM bodies WHERE body ~ ('\m' || relname || '\M'))
  UNION
  SELECT next.oid FROM relations CROSS JOIN LATERAL (
    SELECT refobjid FROM pg_rewrite JOIN pg_depend ON objid = pg_rewrite.oid
    WHERE ev_class = relations.oid AND classid = 'pg_rewrite'::regclass AND refclassid = 'pg_class'::regclass
    UNION ALL
    SELECT inhrelid FROM pg_inherits WHERE inhparent = relations.oid
  ) AS next (oid)
)
SELECT class.oid::regclass AS name, relkind <> 'r' AS is_unwatchable
FROM relations JOIN pg_class AS class USING (oid)
WHERE relkind IN ('r', 'm', 'f') AND relpersistence <> 't'
  AND relnamespace NOT IN ('feed'::regnamespace, 'pg_catalog'::regnamespace, 'information_schema'::regnamespace);

-- Returns values for a column of any type, as expressions. Those that do not suit its type fail.
CREATE FUNCTION pg_temp.values_for(name regclass, col text) RETURNS text[] LANGUAGE sql AS $$
  SELECT array_agg(format(value, col, name))
  FROM unnest(ARRAY[
    'coalesce(%1$I, '''') || ''x''', '''x'' || substr(%1$I, 2)', 'coalesce(%1$I, 0) + 1', 'coalesce(%1$I, 0) - 1',
    'NOT coalesce(%1$I, false)', 'coalesce(%1$I, now()) + interval ''25 hours''',
    'coalesce(%1$I, ''00:00'') + interval ''1 hour''', 'array_append(%1$I, NULL)', 'gen_random_uuid()',
    'jsonb_build_object(''was'', %1$I)', '~ %1$I', '%1$I + 1', '''empty''',
    '(SELECT label FROM unnest(enum_range(%1$I)) AS label WHERE label IS DISTINCT FROM %1$I LIMIT 1)',
    '(SELECT other.%1$I FROM %2$s AS other WHERE other.%1$I::text <> changed.%1$I::text LIMIT 1)',
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
-- it without the first statement.
CREATE FUNCTION pg_temp.try(change text, of_rows tid[], statements text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  changed bigint;
  count bigint;
  place tid;
  statement text;
  outcome outcomes;
  error text;
BEGIN
  FOR attempt IN 1 .. coalesce(cardinality(statements), 0) LOOP
    BEGIN
      changed := 0;
      FOREACH place IN ARRAY of_rows LOOP
        FOREACH statement IN ARRAY statements[attempt:] LOOP
          BEGIN
            EXECUTE statement USING place;
            GET DIAGNOSTICS count = ROW_COUNT;
            changed := changed + CASE WHEN statement LIKE 'TRUNCATE %' THEN 1 ELSE count END;
            EXIT WHEN count > 0;
          EXCEPTION WHEN OTHERS THEN
          END;
        END LOOP;
      END LOOP;
      EXIT WHEN changed = 0;

      INSERT INTO lines_after TABLE lines;
      INSERT INTO missed
      SELECT * FROM (TABLE lines_after EXCEPT TABLE lines_before) AS line
      WHERE (collection, id) NOT IN (SELECT * FROM pg_temp.exported() AS found WHERE found.id IS NOT NULL)
      UNION ALL
      SELECT * FROM lines_before AS line
      WHERE NOT EXISTS (
          SELECT FROM lines_after AS kept
          WHERE (kept.collection, kept.organization_id, kept.id) = (line.collection, line.organization_id, line.id))
        AND (collection, id) NOT IN (SELECT * FROM pg_temp.deleted());
      SELECT try.change, count(DISTINCT (collection, organization_id, id)) INTO outcome.change, outcome.lines
      FROM ((TABLE lines_after EXCEPT TABLE lines_before) UNION (TABLE lines_before EXCEPT TABLE lines_after)) AS line;
      SELECT count(DISTINCT (collection, organization_id, id)),
             min(concat_ws(' ', collection, id, 'of', organization_id))
      INTO outcome.missed, outcome.example
      FROM missed WHERE feed.is_known(feed.source(), pg_current_xact_id());
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
  some_rows tid[];
  col text;
BEGIN
  FOR name IN SELECT tables.name FROM tables WHERE NOT is_unwatchable ORDER BY 1 LOOP
    EXECUTE format(
      'SELECT array_agg(ctid) FROM (SELECT ctid FROM %s AS one ORDER BY md5(one::text) LIMIT 40) AS sample', name)
    INTO some_rows;
    IF some_rows IS NULL THEN
      INSERT INTO outcomes VALUES (format('all of %s, which is empty', name));
      CONTINUE;
    END IF;
    FOR col IN
      SELECT attname FROM pg_attribute
      WHERE attrelid = name AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum
    LOOP
      PERFORM pg_temp.try(format('%s.%I', name, col), some_rows, array_agg(statement ORDER BY position))
      FROM unnest(pg_temp.values_for(name, col)) WITH ORDINALITY AS listed (value, position), format(
        'UPDATE %1$s AS changed SET %2$I = %3$s WHERE ctid = $1 AND (%3$s)::text IS DISTINCT FROM %2$I::text',
        name, col, value) AS statement
      WHERE pg_temp.is_valid(statement);
    END LOOP;
    PERFORM pg_temp.try(format('rows of %s', name), some_rows, ARRAY[format('DELETE FROM %s WHERE ctid = $1', name)]),
            pg_temp.try(format('all rows of %s', name), '{"(0,0)"}', ARRAY[format('TRUNCATE %s CASCADE', name)]);
  END LOOP;
END
$$;

-- The tables of which a look-up of an id, or of the records that show a changed row, reads all rows, or all of an index.
-- Without these kinds of plans, a table without a suitable index is still read as a whole.
SET LOCAL enable_seqscan = off;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
CREATE FUNCTION pg_temp.plan(query text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON, VERBOSE) ' || query INTO plan;
  RETURN plan;
END
$$;

CREATE TEMPORARY VIEW scans AS
WITH look_ups AS (
  SELECT name, query
  FROM unnest(ARRAY['organizations', 'events', 'sessions', 'tickets', 'orders', 'offers']) AS collection, LATERAL (VALUES
    ('feed.' || collection, format('SELECT * FROM feed.%s WHERE id IN (''x'')', collection)),
    ('feed.changed_' || collection, format('SELECT * FROM feed.changed_%s(''3'')', collection))) AS listed (name, query)
), nodes AS (
  SELECT name, node,
    regexp_replace(node ->> 'Index Cond', '(\m\w+|"[^"]+")\.', '', 'g') AS index_condition,
    regexp_replace(concat(node ->> 'Index Cond', node ->> 'Filter'), '(\m\w+|"[^"]+")\.', '', 'g') AS condition
  FROM look_ups, jsonb_path_query(
    pg_temp.plan(query), 'strict $.** ? (@."Node Type" == "Seq Scan" || exists(@."Index Name"))') AS node
), whole AS (
  SELECT name, condition, class.oid::regclass AS table_name
  FROM nodes JOIN pg_class AS class ON oid = to_regclass(format('%I.%I', node ->> 'Schema', node ->> 'Relation Name'))
  WHERE node ->> 'Node Type' = 'Seq Scan'
  UNION ALL
  -- An index without a condition for its first key.
  SELECT name, condition, indrelid
  FROM nodes JOIN pg_class AS class ON relname = node ->> 'Index Name' JOIN pg_index ON indexrelid = class.oid
  WHERE index_condition IS NULL
     OR position(translate(pg_get_indexdef(indexrelid, 1, false), '()', '') IN translate(index_condition, '()', '')) = 0
)
SELECT DISTINCT name, table_name, (
  SELECT max(substring(clause FROM '^\((.*) = ''x''::text\)$'))
  FROM regexp_split_to_table(regexp_replace(condition, '^\((.* AND .*)\)$', '\1'), ' AND ') AS clause) AS expression
FROM whole WHERE pg_relation_size(table_name) > 65536;

SELECT format('not noticed: %s (%s of %s lines that differ, such as %s)', change, missed, lines, example)
FROM outcomes WHERE missed > 0;
SELECT format('not noticed: %s, which no trigger can watch', name) FROM tables WHERE is_unwatchable;
SELECT format('no index: %s reads all of %s%s', name, table_name,
              '; CREATE INDEX ON ' || table_name || ' ((' || expression || '))') FROM scans;
SELECT 'could not be changed: ' || string_agg(change, ', ') FROM outcomes WHERE lines IS NULL HAVING count(*) > 0;
SELECT format('%s changes, of which %s change lines, %s are not noticed', count(lines), count(nullif(lines, 0)),
              count(nullif(missed, 0))) FROM outcomes;
ROLLBACK;
