-- Schema of a Foyer snapshot file, version 2.
--
-- A snapshot is one SQLite file (UTF-8, rollback journal) that holds one or more organizations, whole. It is
-- written once, by the builder, and only read after that. Any SQLite tool opens it:
--
--   SELECT record ->> 'status', count(*) FROM tickets GROUP BY 1;
--   SELECT record FROM orders WHERE order_id = 'ord_5120';
--
-- The header carries application_id 0x466F7972 ("Foyr") and user_version 2, the version of this schema.
--
-- What is alike in all tables of content:
--   * "row" counts from 0 over the whole file, without a gap. The rows of one organization follow each other,
--     in the order in which the API lists them; "segments" says from where to where they reach.
--   * "record" is the JSON text that the API serves, complete but for the next session of an event. It begins
--     with the record's id.
--   * the other columns repeat what the record is found, filtered or sorted by, ready for the loader, which
--     reads no JSON. Instants are microseconds since 1970-01-01T00:00:00Z.

-- The snapshot itself: one row.
CREATE TABLE snapshot (
  snapshot_id      TEXT    NOT NULL, -- identifies this snapshot: a UUID
  produced_at      TEXT    NOT NULL, -- when it was produced: ISO 8601, UTC
  permits_rollback INTEGER NOT NULL CHECK (permits_rollback IN (0, 1)), -- 1: it may go live although it is older
  permits_shrink   INTEGER NOT NULL CHECK (permits_shrink IN (0, 1)),   -- 1: although an organization is gone or shrank
  digest           TEXT    NOT NULL  -- SHA-256 over the columns above, "organizations" and "segments" (docs/snapshot-format.md)
) STRICT;

-- The organizations, in the order of their ids.
CREATE TABLE organizations (
  organization_id TEXT PRIMARY KEY, -- as in the credential svc:o:<organization_id>:<key>
  name            TEXT NOT NULL,    -- for people
  digest          TEXT NOT NULL     -- SHA-256 over all content of the organization (docs/snapshot-format.md)
) STRICT;

-- Where the rows of an organization stand in a table of content, and how many there are.
CREATE TABLE segments (
  organization_id TEXT    NOT NULL,
  table_name      TEXT    NOT NULL, -- one of the tables below
  first_row       INTEGER NOT NULL,
  row_count       INTEGER NOT NULL,
  record_bytes    INTEGER NOT NULL, -- sum of the lengths of "record" in bytes; 0 in a table without it
  PRIMARY KEY (organization_id, table_name)
) STRICT;

-- Events, latest created first, then by id.
CREATE TABLE events (
  row      INTEGER PRIMARY KEY,
  event_id TEXT NOT NULL,
  record   TEXT NOT NULL -- without nextSessionStartAt and nextSessionId, which the moment of a request decides
) STRICT;

-- The tags of events, in the form in which they are compared: NFC, lower case, white space collapsed.
CREATE TABLE event_tags (
  row       INTEGER PRIMARY KEY,
  event_row INTEGER NOT NULL, -- row of "events"
  tag       TEXT NOT NULL
) STRICT;

-- Sessions, by the row of their event, then earliest start first, then by id.
CREATE TABLE sessions (
  row        INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL,
  event_row  INTEGER NOT NULL, -- row of "events"
  starts     INTEGER NOT NULL, -- instant of startAt
  start_at   TEXT NOT NULL,    -- startAt as it was written
  record     TEXT NOT NULL
) STRICT;

-- Tickets, latest issued first, then by id.
CREATE TABLE tickets (
  row              INTEGER PRIMARY KEY,
  ticket_id        TEXT NOT NULL,
  event_id         TEXT NOT NULL,
  event_session_id TEXT NOT NULL,
  order_id         TEXT NOT NULL,
  qr_code          TEXT NOT NULL,
  updated_at       INTEGER NOT NULL, -- instant of updatedAt
  record           TEXT NOT NULL
) STRICT;

-- Orders, latest created first, then by id.
CREATE TABLE orders (
  row        INTEGER PRIMARY KEY,
  order_id   TEXT NOT NULL,
  status     TEXT NOT NULL,
  email      TEXT NOT NULL,    -- customer.email in lower case; empty when there is no customer
  updated_at INTEGER NOT NULL, -- instant of updatedAt
  record     TEXT NOT NULL
) STRICT;

-- The events of which an order holds an item, once each.
CREATE TABLE order_events (
  row       INTEGER PRIMARY KEY,
  order_row INTEGER NOT NULL, -- row of "orders"
  event_id  TEXT NOT NULL
) STRICT;

-- Offers of the catalog, earliest created first, then by id.
CREATE TABLE offers (
  row        INTEGER PRIMARY KEY,
  offer_id   TEXT NOT NULL,
  type       TEXT NOT NULL,    -- TICKET, PRODUCT or BUNDLE
  created_at INTEGER NOT NULL, -- instant of createdAt
  record     TEXT NOT NULL
) STRICT;

-- The events that hold an offer, once each: of a TICKET offer its own, of the others those that hold it.
CREATE TABLE offer_events (
  row       INTEGER PRIMARY KEY,
  offer_row INTEGER NOT NULL, -- row of "offers"
  event_id  TEXT NOT NULL
) STRICT;

-- The values of resaleEnabled among the pricings of a TICKET offer, once each.
CREATE TABLE offer_resales (
  row            INTEGER PRIMARY KEY,
  offer_row      INTEGER NOT NULL, -- row of "offers"
  resale_enabled TEXT NOT NULL     -- true or false
) STRICT;
