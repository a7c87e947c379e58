-- Writes an import folder into the current folder: the changes since a feed if they are known, else everything.
-- Variables: `source` and `since` of that feed, both empty for everything. Prints what the next feed needs.
\set ON_ERROR_STOP on
\set line 'WITH (FORMAT csv, QUOTE E''\\x01'', DELIMITER E''\\x02'')'
SET TimeZone = 'UTC';
-- These queries are shorter than their compilation.
SET jit = off;

-- All files show one database snapshot, which the first query takes.
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT CASE WHEN :'source' = '' THEN false ELSE feed.is_known(:'source', nullif(:'since', '')::xid8) END AS is_known \gset

-- Of an array, the planner expects few elements, and looks them up by the index; of a function, a third of the table.
\if :is_known
COPY (SELECT line FROM feed.organizations WHERE id IN (SELECT unnest(ARRAY(SELECT id FROM feed.changed_organizations(:'since'))))) TO STDOUT :line \g organizations.ndjson
COPY (SELECT line FROM feed.events WHERE id IN (SELECT unnest(ARRAY(SELECT id FROM feed.changed_events(:'since'))))) TO STDOUT :line \g events.ndjson
COPY (SELECT line FROM feed.sessions WHERE id IN (SELECT unnest(ARRAY(SELECT id FROM feed.changed_sessions(:'since'))))) TO STDOUT :line \g sessions.ndjson
COPY (SELECT line FROM feed.tickets WHERE id IN (SELECT unnest(ARRAY(SELECT id FROM feed.changed_tickets(:'since'))))) TO STDOUT :line \g tickets.ndjson
COPY (SELECT line FROM feed.orders WHERE id IN (SELECT unnest(ARRAY(SELECT id FROM feed.changed_orders(:'since'))))) TO STDOUT :line \g orders.ndjson
COPY (SELECT line FROM feed.offers WHERE id IN (SELECT unnest(ARRAY(SELECT id FROM feed.changed_offers(:'since'))))) TO STDOUT :line \g offers.ndjson
COPY (SELECT line FROM feed.deletions(:'since')) TO STDOUT :line \g deletions.ndjson
\else
COPY (SELECT line FROM feed.organizations) TO STDOUT :line \g organizations.ndjson
COPY (SELECT line FROM feed.events) TO STDOUT :line \g events.ndjson
COPY (SELECT line FROM feed.sessions) TO STDOUT :line \g sessions.ndjson
COPY (SELECT line FROM feed.tickets) TO STDOUT :line \g tickets.ndjson
COPY (SELECT line FROM feed.orders) TO STDOUT :line \g orders.ndjson
COPY (SELECT line FROM feed.offers) TO STDOUT :line \g offers.ndjson
\endif

\pset tuples_only on
\pset format unaligned
\pset fieldsep ' '
SELECT CASE WHEN :'is_known'::boolean THEN 'changes' ELSE 'everything' END,
       feed.source(),
       pg_snapshot_xmin(pg_current_snapshot()),
       to_char(now(), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
COMMIT;
