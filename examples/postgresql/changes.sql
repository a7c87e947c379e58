-- The changes since an export, kept by triggers. Run it after views.sql, which drops and creates the schema. The variable
-- `watched` is the file of the tables to watch, by default watched.sql.
--
-- A change is noted with the id of its transaction, and an export remembers the oldest id that was still in progress in
-- its database snapshot (`since`). A transaction that the snapshot does not show has no lower id, whenever it commits,
-- so that the next export reads its changes. Changes may be read twice, which does no harm.
--
-- An export of changes needs the export before it, by its token, in this database: a restored one lacks it, or has it
-- with all changes since. Everything else on which lines depend is compared for equality: cluster, timeline, views,
-- tables, types and triggers.
\set ON_ERROR_STOP on
\if :{?watched}
\else
\set watched watched.sql
\endif
BEGIN;

-- A changed row, or the row of another table that a changed row is part of. Rows are only added until no export needs them.
CREATE TABLE feed.changes (
  kind            text NOT NULL,
  organization_id text,
  id              text NOT NULL,
  changed_in      xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX ON feed.changes (changed_in);

-- The exports from which a feed may continue: at most two of each. It is written in the transaction of the export.
CREATE TABLE feed.exports (
  token         uuid PRIMARY KEY,
  previous      uuid,
  exported_at   timestamptz NOT NULL,
  since         xid8 NOT NULL,
  source        text NOT NULL,
  definitions   jsonb NOT NULL,
  -- Those that the snapshot has: as exported, or held back as they were.
  organizations text[] NOT NULL,
  -- Those of which the next export has all records: the snapshot lacks their changes.
  held_back     text[] NOT NULL DEFAULT '{}',
  -- Of an export of changes: the organizations of which it has all records, and those that are gone.
  whole         text[] NOT NULL DEFAULT '{}',
  gone          text[] NOT NULL DEFAULT '{}',
  -- Why it has everything; null if it has changes.
  reason        text
);

-- Notes a changed row. Arguments: the kind, the columns of the id, the column of the organization if a join needs it.
-- A column that was renamed or dropped is noted itself, since the id is not known then.
-- The owner's rights apply, so that an application needs none on this schema.
CREATE FUNCTION feed.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
DECLARE
  names CONSTANT text[] := string_to_array(TG_ARGV[1], '-');
BEGIN
  IF NOT coalesce(to_jsonb(NEW), to_jsonb(OLD)) ?& array_remove(names || TG_ARGV[2], NULL) THEN
    INSERT INTO feed.changes (kind, id)
    VALUES ('unknown column', concat(TG_RELID::regclass, ' lacks ', concat_ws('-', TG_ARGV[1], TG_ARGV[2]), ' of a trigger'));
    RETURN NULL;
  END IF;
  INSERT INTO feed.changes (kind, organization_id, id)
  SELECT DISTINCT TG_ARGV[0], version ->> TG_ARGV[2], id
  FROM (VALUES (to_jsonb(OLD)), (to_jsonb(NEW))) AS versions (version), LATERAL (
    SELECT string_agg(version ->> name, '-' ORDER BY position)
    FROM unnest(names) WITH ORDINALITY AS columns (name, position)) AS noted (id)
  WHERE id IS NOT NULL;
  RETURN NULL;
END
$$;

CREATE FUNCTION feed.noted(since xid8, of_kind text) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT DISTINCT id FROM feed.changes WHERE changed_in >= since AND kind = of_kind
$$;

-- For joins by the organization, too.
CREATE FUNCTION feed.noted_by_organization(since xid8, of_kind text) RETURNS TABLE (organization_id text, id text)
LANGUAGE sql STABLE AS $$
  SELECT DISTINCT organization_id, id FROM feed.changes WHERE changed_in >= since AND kind = of_kind
$$;

-- An id of several columns has them with `-` in between, as in `order_id-position`.
CREATE TEMPORARY TABLE watched (
  table_name          regclass NOT NULL,
  kind                text NOT NULL,
  id_columns          text NOT NULL,
  organization_column text
) ON COMMIT DROP;
\ir :watched

DO $$
DECLARE
  entry watched;
  watching record;
BEGIN
  FOR entry IN SELECT * FROM watched LOOP
    -- Fails unless the columns exist.
    EXECUTE format('SELECT %s FROM %s LIMIT 0', (
      SELECT string_agg(quote_ident(name), ', ')
      FROM string_to_table(concat_ws('-', entry.id_columns, entry.organization_column), '-') AS name), entry.table_name);
    EXECUTE format(
      'CREATE TRIGGER %I AFTER INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW EXECUTE FUNCTION feed.note(%s)',
      concat_ws('_', 'feed', entry.kind, entry.id_columns), entry.table_name,
      concat_ws(', ', quote_literal(entry.kind), quote_literal(entry.id_columns),
                quote_literal(entry.organization_column)));
  END LOOP;
  -- Also with session_replication_role = replica, and for logical replication into the table.
  FOR watching IN
    SELECT tgrelid::regclass AS table_name, tgname FROM pg_trigger WHERE tgfoid = 'feed.note'::regproc
  LOOP
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER %I', watching.table_name, watching.tgname);
  END LOOP;
END
$$;

-- The triggers without which no change is known. Those of partitions come and go.
CREATE TABLE feed.triggers AS
SELECT tgrelid::regclass AS table_name, tgname AS name FROM pg_trigger
WHERE tgfoid = 'feed.note'::regproc AND tgparentid = 0;

-- The tables, views, functions and types on which lines depend: everything in the schema, and what these refer to. The
-- body of a function refers to what it names.
CREATE VIEW feed.objects AS
WITH RECURSIVE objects (classid, objid) AS (
  SELECT classid, objid FROM pg_depend
  WHERE refclassid = 'pg_namespace'::regclass AND refobjid = 'feed'::regnamespace
    AND classid IN ('pg_class'::regclass, 'pg_proc'::regclass)
  UNION
  SELECT found.classid, found.objid FROM objects CROSS JOIN LATERAL (
    SELECT refclassid, refobjid FROM pg_depend WHERE (classid, objid) = (objects.classid, objects.objid)
    UNION ALL
    SELECT refclassid, refobjid FROM pg_rewrite JOIN pg_depend ON (classid, objid) = ('pg_rewrite'::regclass, pg_rewrite.oid)
    WHERE objects.classid = 'pg_class'::regclass AND ev_class = objects.objid
    UNION ALL
    SELECT 'pg_class'::regclass, inhrelid FROM pg_inherits
    WHERE objects.classid = 'pg_class'::regclass AND inhparent = objects.objid
    UNION ALL
    SELECT * FROM (SELECT 'pg_type'::regclass, typelem FROM pg_type WHERE oid = objects.objid
                   UNION ALL SELECT 'pg_class'::regclass, typrelid FROM pg_type WHERE oid = objects.objid) AS parts
    WHERE objects.classid = 'pg_type'::regclass
    UNION ALL
    SELECT named.classid, named.oid
    FROM pg_proc, regexp_matches(prosrc, '"([^"]+)"|(\w+)', 'g') AS word, LATERAL (
      SELECT 'pg_class'::regclass, oid, relnamespace FROM pg_class WHERE relname = coalesce(word[1], word[2])
      UNION ALL
      SELECT 'pg_proc'::regclass, oid, pronamespace FROM pg_proc WHERE proname = coalesce(word[1], word[2])
    ) AS named (classid, oid, namespace)
    WHERE objects.classid = 'pg_proc'::regclass AND pg_proc.oid = objects.objid
      AND namespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
  ) AS found (classid, objid)
  WHERE found.classid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass)
    -- Below are the objects of PostgreSQL itself.
    AND found.objid >= 16384
)
SELECT DISTINCT classid, objid FROM objects;

-- Digests of the catalog rows that describe these objects, by name. A row has the transaction that wrote it, so that an
-- object differs also after it was changed back, such as a trigger that was disabled and enabled. A table that was
-- truncated or rewritten has another file.
CREATE FUNCTION feed.definitions() RETURNS jsonb LANGUAGE sql STABLE AS $$
  WITH objects AS MATERIALIZED (SELECT * FROM feed.objects), described AS (
    SELECT classid, objid, concat_ws(' ', 'object', objid, relfilenode) AS entry
    FROM objects LEFT JOIN pg_class ON classid = 'pg_class'::regclass AND pg_class.oid = objid
    UNION ALL
    SELECT classid, objid, concat_ws(' ', 'function', row.xmin) FROM objects JOIN pg_proc AS row ON row.oid = objid
    WHERE classid = 'pg_proc'::regclass
    UNION ALL
    SELECT classid, objid, concat_ws(' ', 'label', row.oid, row.xmin) FROM objects JOIN pg_enum AS row ON enumtypid = objid
    WHERE classid = 'pg_type'::regclass
    UNION ALL
    SELECT classid, objid, described.entry FROM objects CROSS JOIN LATERAL (
      SELECT concat_ws(' ', 'column', attnum, row.xmin) FROM pg_attribute AS row WHERE attrelid = objid AND attnum > 0
      UNION ALL
      SELECT concat_ws(' ', 'query', row.xmin) FROM pg_rewrite AS row WHERE ev_class = objid
      UNION ALL
      SELECT concat_ws(' ', 'partition', inhrelid, row.xmin) FROM pg_inherits AS row WHERE inhparent = objid
      UNION ALL
      SELECT concat_ws(' ', 'trigger', row.oid, row.xmin) FROM pg_trigger AS row
      WHERE tgrelid = objid AND tgfoid = 'feed.note'::regproc
    ) AS described (entry)
    WHERE classid = 'pg_class'::regclass
  )
  SELECT jsonb_object_agg(name, digest) FROM (
    SELECT concat_ws(' ', type, identity) AS name, md5(string_agg(entry, ',' ORDER BY entry)) AS digest
    FROM described, pg_identify_object(classid, objid, 0)
    GROUP BY type, identity
  ) AS digests
$$;

-- Identifies what transaction ids count in: cluster, timeline (a new one begins with a failover or a recovery to an
-- earlier time), database.
CREATE FUNCTION feed.source() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT concat_ws('-', system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8), pg_database.oid)
  FROM pg_control_system(), pg_database
  WHERE datname = current_database()
$$;

-- Returns why the changes between two exports are not known; null if they are.
CREATE FUNCTION feed.reason(last feed.exports, this feed.exports) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN last.token IS NULL THEN 'this database does not have the last export'
    WHEN last.source <> this.source THEN 'the database was copied, restored or failed over'
    WHEN last.definitions <> this.definitions THEN 'changed: ' || (
      SELECT string_agg(name, ', ' ORDER BY name) FROM (
        SELECT coalesce(before.key, after.key)
        FROM jsonb_each(last.definitions) AS before FULL JOIN jsonb_each(this.definitions) AS after USING (key)
        WHERE before.value IS DISTINCT FROM after.value ORDER BY 1 LIMIT 5
      ) AS differing (name))
    ELSE coalesce((
      SELECT min(format('%s has no trigger %I, or not ENABLE ALWAYS; run changes.sql again', table_name, name))
      FROM feed.triggers
      WHERE NOT EXISTS (SELECT FROM pg_trigger WHERE (tgrelid, tgname, tgenabled) = (table_name, name, 'A'))
    ), (SELECT min(id) || '; run changes.sql again' FROM feed.noted(last.since, 'unknown column')))
  END
$$;

-- Begins an export: notes it with all that the next one compares, in the transaction that reads the lines.
-- `requested` is a reason to export everything, or null.
CREATE FUNCTION feed.begin(of_last uuid, requested text) RETURNS feed.exports LANGUAGE plpgsql AS $$
DECLARE
  last feed.exports;
  this feed.exports;
BEGIN
  SELECT * INTO last FROM feed.exports WHERE token = of_last;
  this.token := gen_random_uuid();
  this.previous := of_last;
  this.exported_at := now();
  this.since := pg_snapshot_xmin(pg_current_snapshot());
  this.source := feed.source();
  this.definitions := feed.definitions();
  this.organizations := ARRAY(SELECT id FROM feed.organizations);
  this.reason := coalesce(requested, feed.reason(last, this));
  this.held_back := '{}';
  this.whole := ARRAY(
    (SELECT unnest(this.organizations) EXCEPT SELECT unnest(last.organizations))
    UNION (SELECT unnest(this.organizations) INTERSECT SELECT unnest(last.held_back)));
  this.gone := ARRAY(SELECT unnest(last.organizations) EXCEPT SELECT unnest(this.organizations));
  -- Those of feeds that did not end.
  DELETE FROM feed.exports WHERE previous = of_last;
  INSERT INTO feed.exports SELECT this.*;
  RETURN this;
END
$$;

-- Returns the ids of a collection that may have changed since the last export, and those of organizations that are
-- exported as a whole.
CREATE FUNCTION feed.exported(of_token uuid, collection text) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
DECLARE
  this feed.exports;
  ids text[];
BEGIN
  SELECT * INTO this FROM feed.exports WHERE token = of_token;
  EXECUTE format('SELECT array_agg(id) FROM feed.changed_%s($1)', collection) INTO ids
  USING (SELECT since FROM feed.exports WHERE token = this.previous);
  IF this.whole <> '{}' THEN
    EXECUTE format(
      'SELECT array_agg(id) || $1 FROM feed.%s WHERE %I = ANY ($2)',
      collection, CASE collection WHEN 'organizations' THEN 'id' ELSE 'organization_id' END) INTO ids
    USING ids, this.whole;
  END IF;
  RETURN ids;
END
$$;

-- Returns the query of the lines of a collection. With `id = ANY (…)`, each is looked up, whatever a view joins.
CREATE FUNCTION feed.query(this feed.exports, collection text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT format(
    CASE collection
      WHEN 'organizations' THEN
        'SELECT CASE WHEN id = ANY (%2$L) THEN (line::jsonb || ''{"complete": true}'')::text ELSE line END FROM feed.%1$s'
      ELSE 'SELECT line FROM feed.%1$s'
    END || CASE WHEN this.reason IS NULL THEN ' WHERE id = ANY ((SELECT feed.exported(%3$L, %1$L))::text[])' ELSE '' END,
    collection, this.whole, this.token)
$$;

-- The lines of deletions.ndjson: the ids of all records that may have changed. The build removes each from every
-- organization for which the export has no line of it. So a trigger needs no organization, and a record may move.
CREATE FUNCTION feed.deletions(this feed.exports) RETURNS TABLE (line text) LANGUAGE sql STABLE AS $$
  SELECT jsonb_build_object('collection', collection, 'id', id)::text
  FROM (SELECT since FROM feed.exports WHERE token = this.previous) AS last, LATERAL (
    SELECT 'events' AS collection, id FROM feed.changed_events(since)
    UNION ALL SELECT 'sessions', id FROM feed.changed_sessions(since)
    UNION ALL SELECT 'tickets', id FROM feed.changed_tickets(since)
    UNION ALL SELECT 'orders', id FROM feed.changed_orders(since)
    UNION ALL SELECT 'offers', id FROM feed.changed_offers(since)
    UNION ALL SELECT 'organizations', unnest(this.gone)
  ) AS changed
  WHERE id IS NOT NULL
$$;

-- Ends an export whose snapshot is published, from which the next one may continue. `held` has the lines about the
-- organizations that the build held back. Removes the changes and exports that no feed needs, those of feeds that
-- stopped a week ago, and those that a restored dump brought from a cluster with higher transaction ids.
CREATE FUNCTION feed.complete(of_token uuid, held text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  done feed.exports;
  ids CONSTANT text[] := ARRAY(
    SELECT line::jsonb ->> 'organizationId' FROM string_to_table(held, E'\n') AS line WHERE line <> '');
BEGIN
  UPDATE feed.exports
  SET held_back = ids, organizations = ARRAY(SELECT unnest(organizations) UNION SELECT unnest(ids))
  WHERE token = of_token
  RETURNING * INTO done;
  IF done IS NULL THEN
    RAISE 'this database does not have the export any more: it was restored meanwhile';
  END IF;
  DELETE FROM feed.exports
  WHERE token IN (SELECT previous FROM feed.exports WHERE token = done.previous)
     OR exported_at NOT BETWEEN now() - interval '7 days' AND now() + interval '7 days' AND token <> of_token;
  -- An export in progress, which holds the lock, needs the changes from its own `since` on.
  IF pg_try_advisory_xact_lock('feed.changes'::regclass::oid::bigint) THEN
    DELETE FROM feed.changes
    WHERE changed_in < (SELECT since FROM feed.exports ORDER BY since LIMIT 1)
       OR changed_in >= pg_snapshot_xmax(pg_current_snapshot());
  END IF;
END
$$;

-- Fails unless the views have what an export reads.
DO $$
BEGIN
  PERFORM id, line FROM feed.organizations LIMIT 0;
  PERFORM id, organization_id, line FROM feed.events LIMIT 0;
  PERFORM id, organization_id, line FROM feed.sessions LIMIT 0;
  PERFORM id, organization_id, line FROM feed.tickets LIMIT 0;
  PERFORM id, organization_id, line FROM feed.orders LIMIT 0;
  PERFORM id, organization_id, line FROM feed.offers LIMIT 0;
END
$$;

COMMIT;
