-- The changes since a feed, kept by triggers. Run it after views.sql, which drops and creates the schema. The variable
-- `watched` is the file of the tables to watch, by default watched.sql.
--
-- A change is noted with the id of its transaction, and a feed remembers the oldest id that was still in progress in
-- its database snapshot (`since`). A transaction that the snapshot does not show has no lower id, whenever it commits,
-- so that the next feed reads its changes. Changes may be read twice, which does no harm.
\set ON_ERROR_STOP on
\if :{?watched}
\else
\set watched watched.sql
\endif
BEGIN;

-- A changed row, or the row of another table that a changed row is part of. The organization is null unless it is
-- watched. Rows are only added while a feed has not yet passed them.
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

-- Notes a changed row. Arguments: the kind, the columns of the id, the column of the organization if a join needs it.
-- The owner's rights apply, so that an application needs none on this schema.
CREATE FUNCTION feed.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
  INSERT INTO feed.changes (kind, organization_id, id)
  SELECT DISTINCT TG_ARGV[0], version ->> TG_ARGV[2], id
  FROM (VALUES (to_jsonb(OLD)), (to_jsonb(NEW))) AS versions (version), LATERAL (
    SELECT string_agg(version ->> name, '-' ORDER BY position)
    FROM string_to_table(TG_ARGV[1], '-') WITH ORDINALITY AS columns (name, position)) AS noted (id)
  WHERE id IS NOT NULL;
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

CREATE FUNCTION feed.noted(since xid8, of_kind text) RETURNS TABLE (id text) LANGUAGE sql STABLE AS $$
  SELECT DISTINCT id FROM feed.changes WHERE changed_in >= since AND kind = of_kind
$$;

-- For joins by the organization, too: a row that was noted without one may be of any.
CREATE FUNCTION feed.noted_by_organization(since xid8, of_kind text) RETURNS TABLE (organization_id text, id text)
LANGUAGE sql STABLE AS $$
  SELECT DISTINCT coalesce(noted.organization_id, organization.id), noted.id
  FROM feed.changes AS noted LEFT JOIN feed.organizations AS organization ON noted.organization_id IS NULL
  WHERE changed_in >= since AND kind = of_kind
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
    EXECUTE format(
      'CREATE OR REPLACE TRIGGER feed_truncation AFTER TRUNCATE ON %s EXECUTE FUNCTION feed.note_truncation()',
      entry.table_name);
  END LOOP;
END
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
  WHERE id IS NOT NULL
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
      SELECT FROM feed.noted(since, 'organizations') AS noted WHERE noted.id NOT IN (SELECT id FROM feed.organizations))
$$;

-- Removes the changes that no feed needs: those before `since`, and those that a restored dump brought from a cluster
-- with higher transaction ids.
CREATE FUNCTION feed.trim(since xid8) RETURNS void LANGUAGE sql AS $$
  UPDATE feed.complete_from SET xid = since;
  DELETE FROM feed.changes WHERE changed_in < since OR changed_in >= pg_snapshot_xmax(pg_current_snapshot());
$$;

COMMIT;
