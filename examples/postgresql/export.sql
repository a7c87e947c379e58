-- Writes an import folder into the current folder: the changes since the last export if they are known, else everything.
-- Variables: `last`, its token; `requested`, a reason to export everything, or empty; `after`, the time of the last
-- snapshot, or empty. Prints the token of the last export and of this one, its time, and the reason if it has everything.
\set ON_ERROR_STOP on
\set line 'WITH (FORMAT csv, QUOTE E''\\x01'', DELIMITER E''\\x02'')'
SET TimeZone = 'UTC';
-- These queries are shorter than their compilation.
SET jit = off;
-- Below deadlock_timeout, so that no migration is ended because of this export.
SET lock_timeout = '900ms';
SET statement_timeout = '30min';

-- Until the session ends, no other feed removes changes.
SELECT pg_advisory_lock_shared('feed.changes'::regclass::oid::bigint) AS locked \gset

-- No table changes its definition or is truncated while it is read: such a change shows in earlier snapshots, too.
SELECT format('LOCK TABLE %s IN ACCESS SHARE MODE', string_agg(objid::regclass::text, ', ' ORDER BY objid)) AS lock
FROM feed.objects JOIN pg_class ON pg_class.oid = objid
WHERE classid = 'pg_class'::regclass AND relkind IN ('r', 'p', 'v') AND has_table_privilege(objid, 'SELECT') \gset

-- All files show one database snapshot, which the first query after the locks takes.
BEGIN ISOLATION LEVEL REPEATABLE READ;
:lock;
SELECT previous, token, coalesce(reason, '') AS reason, reason IS NULL AS has_changes, to_char(
  greatest(exported_at, nullif(:'after', '')::timestamptz + interval '1 millisecond'),
  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS as_of
FROM feed.begin(coalesce(nullif(:'last', '')::uuid, gen_random_uuid()), nullif(:'requested', '')) \gset

SELECT feed.query(export, 'organizations') AS organizations, feed.query(export, 'events') AS events,
       feed.query(export, 'sessions') AS sessions, feed.query(export, 'tickets') AS tickets,
       feed.query(export, 'orders') AS orders, feed.query(export, 'offers') AS offers
FROM feed.exports AS export WHERE token = :'token' \gset
COPY (:organizations) TO STDOUT :line \g organizations.ndjson
COPY (:events) TO STDOUT :line \g events.ndjson
COPY (:sessions) TO STDOUT :line \g sessions.ndjson
COPY (:tickets) TO STDOUT :line \g tickets.ndjson
COPY (:orders) TO STDOUT :line \g orders.ndjson
COPY (:offers) TO STDOUT :line \g offers.ndjson
\if :has_changes
COPY (SELECT line FROM feed.exports AS export, feed.deletions(export) WHERE token = :'token') TO STDOUT :line \g deletions.ndjson
\endif
COMMIT;
\echo :previous :token :as_of :reason
