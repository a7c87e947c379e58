-- Schema of a Foyer snapshot file.
--
-- A snapshot is one SQLite file (UTF-8, rollback journal) with one or more complete organizations, NAME.sqlite: the whole
-- file. What has changed since is in NAME.changes, a file of the same schema. The builder writes a file once; after that it
-- is only read. Any SQLite tool opens it:
--
--   SELECT record ->> 'status', count(*) FROM tickets GROUP BY 1;
--   SELECT record FROM orders WHERE organization_id = 'org_1' AND order_id = 'ord_5120';
--
-- A record is a row of "events", "sessions", "tickets", "orders" or "offers". These tables have in common:
--
--   * "row" counts from 1, by organization in byte order of the ids, then in the list order of the API. The file of
--     changes lacks rows of the whole file, but counts them.
--   * "changed_at" is not content: the production time of the snapshot in which the record became as it is.
--   * "record" is the JSON text that the API serves. It begins with the record's id.
--   * All other columns have what look-ups and filters need of the record. Those of lists are JSON arrays of texts.
--
-- Instants are microseconds since 1970-01-01T00:00:00Z.

PRAGMA application_id = 0x466F7972; -- "Foyr"
PRAGMA user_version = 5;            -- the version of this schema

-- The snapshot: one row.
CREATE TABLE snapshot (
  snapshot_id      TEXT    NOT NULL, -- a UUID
  produced_at      TEXT    NOT NULL, -- RFC 3339, UTC
  epoch            TEXT    NOT NULL, -- a UUID, new with each whole file that is published; its changes have the same one
  changes_since    TEXT    NOT NULL, -- RFC 3339, UTC: records that have not changed since then are missing; empty in a whole file
  permits_rollback INTEGER NOT NULL CHECK (permits_rollback IN (0, 1)), -- 1: may go live although older than the live one
  permits_shrink   INTEGER NOT NULL CHECK (permits_shrink IN (0, 1)),   -- 1: although it lacks an organization or half of one
  digest           TEXT    NOT NULL  -- SHA-256 over these columns and the tables up to "lists" (docs/snapshot-format.md)
) STRICT;

-- The snapshots from which this one descends: the changes since each of them are known.
-- Earliest first; at most 20,000; may be empty.
CREATE TABLE ancestors (
  snapshot_id TEXT PRIMARY KEY, -- a UUID
  produced_at TEXT NOT NULL     -- RFC 3339, UTC
) STRICT;

-- The organizations.
CREATE TABLE organizations (
  organization_id  TEXT PRIMARY KEY, -- as in the credential svc:o:<organization_id>:<key>
  name             TEXT NOT NULL,    -- shown to operators
  since            TEXT NOT NULL,    -- production time of the snapshot with which its history began
  deletions_digest TEXT NOT NULL     -- SHA-256 over its rows of "deletions" (docs/snapshot-format.md)
) STRICT;

-- The lists: one row for each collection of an organization that has records. All but "row_count" and "digest" is of the
-- complete list, also in a file of changes.
CREATE TABLE lists (
  organization_id TEXT    NOT NULL,
  collection      TEXT    NOT NULL, -- events, sessions, tickets, orders or offers
  row_count       INTEGER NOT NULL, -- records in this file
  record_count    INTEGER NOT NULL,
  record_bytes    INTEGER NOT NULL, -- bytes of all records
  text_bytes      INTEGER NOT NULL, -- bytes of all texts in columns, elements of lists included, without the ids
  list_elements   INTEGER NOT NULL, -- elements of all columns of lists
  longest_row     INTEGER NOT NULL, -- a row has at most this many bytes in its id, texts, lists and record
  records_sum     TEXT    NOT NULL, -- sum of the SHA-256 of the records with their columns (docs/snapshot-format.md)
  digest          TEXT    NOT NULL, -- SHA-256 over its rows in this file (docs/snapshot-format.md)
  PRIMARY KEY (organization_id, collection)
) STRICT, WITHOUT ROWID;

-- Events, latest created first, then by id.
CREATE TABLE events (
  row             INTEGER PRIMARY KEY,
  organization_id TEXT    NOT NULL,
  event_id        TEXT    NOT NULL,
  tags            TEXT    NOT NULL, -- each tag, with U+034F after every 30 marks that a further one follows, in NFC, trimmed, white space collapsed to single blanks, in lower case, upper case and lower case again (Unicode default mappings), in NFC again
  changed_at      INTEGER NOT NULL,
  record          TEXT    NOT NULL  -- without nextSessionStartAt and nextSessionId, which depend on the time of the request
) STRICT;
CREATE UNIQUE INDEX event_ids ON events (organization_id, event_id);

-- Sessions, in the order of their events, then earliest start first, then by id.
CREATE TABLE sessions (
  row             INTEGER PRIMARY KEY,
  organization_id TEXT    NOT NULL,
  session_id      TEXT    NOT NULL,
  event_id        TEXT    NOT NULL, -- of the same organization
  starts          INTEGER NOT NULL, -- instant of startAt
  changed_at      INTEGER NOT NULL,
  record          TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX session_ids ON sessions (organization_id, session_id);

-- Tickets, latest issued first, then by id.
CREATE TABLE tickets (
  row              INTEGER PRIMARY KEY,
  organization_id  TEXT    NOT NULL,
  ticket_id        TEXT    NOT NULL,
  event_id         TEXT    NOT NULL,
  event_session_id TEXT    NOT NULL,
  order_id         TEXT    NOT NULL,
  qr_code          TEXT    NOT NULL,
  updated_at       INTEGER NOT NULL,
  changed_at       INTEGER NOT NULL,
  record           TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX ticket_ids ON tickets (organization_id, ticket_id);

-- Orders, latest created first, then by id.
CREATE TABLE orders (
  row             INTEGER PRIMARY KEY,
  organization_id TEXT    NOT NULL,
  order_id        TEXT    NOT NULL,
  status          TEXT    NOT NULL,
  email           TEXT    NOT NULL, -- customer.email in lower case (Unicode default mapping); empty without a customer
  updated_at      INTEGER NOT NULL,
  event_ids       TEXT    NOT NULL, -- each placedItems[].eventId
  changed_at      INTEGER NOT NULL,
  record          TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX order_ids ON orders (organization_id, order_id);

-- Offers of the catalog, earliest created first, then by id.
CREATE TABLE offers (
  row             INTEGER PRIMARY KEY,
  organization_id TEXT    NOT NULL,
  offer_id        TEXT    NOT NULL,
  type            TEXT    NOT NULL, -- TICKET, PRODUCT or BUNDLE
  created_at      INTEGER NOT NULL,
  event_ids       TEXT    NOT NULL, -- eventId of a TICKET offer; of any other, the events that hold it, which its record does not name
  resale_enabled  TEXT    NOT NULL, -- each pricing[].resaleEnabled of a TICKET offer: "true", "false"
  changed_at      INTEGER NOT NULL,
  record          TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX offer_ids ON offers (organization_id, offer_id);

-- The deletions: a row for each record that a snapshot of the organization's history held and this one lacks.
CREATE TABLE deletions (
  organization_id TEXT    NOT NULL,
  collection      TEXT    NOT NULL, -- of the record: events, sessions, tickets, orders or offers
  id              TEXT    NOT NULL, -- of the record
  deleted_at      INTEGER NOT NULL, -- production time of the first snapshot without it
  PRIMARY KEY (organization_id, collection, id)
) STRICT, WITHOUT ROWID;
