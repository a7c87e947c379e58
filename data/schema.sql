-- Schema of a Foyer snapshot file.
--
-- A snapshot is one SQLite file (UTF-8, rollback journal) with one or more complete organizations. The builder
-- writes it once; after that it is only read. Any SQLite tool opens it, from SQLite 3.40 on:
--
--   SELECT record ->> 'status', count(*) FROM tickets GROUP BY 1;
--   SELECT record FROM orders WHERE order_id = 'ord_5120';
--
-- The tables event_runs, session_runs, ticket_runs, order_runs and offer_runs hold the records in runs: each row has
-- up to 4,096 consecutive records of one organization, in the list order of the API. The views below the
-- tables have one row for each record. The run tables have these columns in common:
--
--   * "first_row" is the row of the run's first record. Rows count from 0 within an organization and collection.
--   * "records" holds the JSON texts that the API serves, joined by commas. Each begins with the record's id, and is complete except for the next session of an event.
--   * "record_lengths" and all other columns are JSON arrays with one element for each record of the run, without
--     white space. Filters, look-ups and orders use them. An element of a text column is a text, or the position of
--     an earlier element with the same text: ["a","b",0]. Instants are microseconds since 1970-01-01T00:00:00Z.
--
-- "changed_at", a text column, is not content. It has the production time of the snapshot in which each record became
-- as it is. If it is empty, no record of the run has changed since the history of the organization began.

PRAGMA application_id = 0x466F7972; -- "Foyr"
PRAGMA user_version = 3;            -- the version of this schema

-- The snapshot: one row.
CREATE TABLE snapshot (
  snapshot_id      TEXT    NOT NULL, -- a UUID
  produced_at      TEXT    NOT NULL, -- RFC 3339, UTC
  canonical_runs   INTEGER NOT NULL CHECK (canonical_runs IN (0, 1)),   -- 1: all runs are cut as the builder cuts them
  permits_rollback INTEGER NOT NULL CHECK (permits_rollback IN (0, 1)), -- 1: may go live although older than the live one
  permits_shrink   INTEGER NOT NULL CHECK (permits_shrink IN (0, 1)),   -- 1: although it lacks an organization or half of one
  digest           TEXT    NOT NULL  -- SHA-256 over the columns above, "ancestors" and "organizations" (docs/snapshot-format.md)
) STRICT;

-- The snapshots from which this one descends: the changes since each of them are known.
-- Earliest first; at most 20,000; may be empty.
CREATE TABLE ancestors (
  snapshot_id TEXT PRIMARY KEY, -- a UUID
  produced_at TEXT NOT NULL     -- RFC 3339, UTC
) STRICT;

-- The organizations.
CREATE TABLE organizations (
  organization_id TEXT PRIMARY KEY, -- as in the credential svc:o:<organization_id>:<key>
  name            TEXT NOT NULL,    -- shown to operators
  digest          TEXT NOT NULL,    -- SHA-256 over the organization's rows of "runs" (docs/snapshot-format.md)
  since           TEXT NOT NULL,    -- production time of the snapshot with which its history began
  history_digest  TEXT NOT NULL     -- SHA-256 over "since", the changes and the deletions (docs/snapshot-format.md)
) STRICT;

-- The manifest of the run tables: one row for each of their rows.
CREATE TABLE runs (
  organization_id TEXT    NOT NULL,
  collection      TEXT    NOT NULL, -- events, sessions, tickets, orders or offers
  first_row       INTEGER NOT NULL,
  record_count    INTEGER NOT NULL,
  record_bytes    INTEGER NOT NULL, -- length of "records" in bytes
  digest          TEXT    NOT NULL, -- SHA-256 over the content of the run (docs/snapshot-format.md)
  records_sum     TEXT    NOT NULL, -- sum of the SHA-256 of its records, each with its index columns (docs/snapshot-format.md)
  changes_digest  TEXT    NOT NULL, -- SHA-256 over its "changed_at"
  PRIMARY KEY (organization_id, collection, first_row)
) STRICT, WITHOUT ROWID;

-- Events, latest created first, then by id.
CREATE TABLE event_runs (
  organization_id TEXT    NOT NULL,
  first_row       INTEGER NOT NULL,
  changed_at      TEXT    NOT NULL,
  record_lengths  TEXT    NOT NULL, -- length of each record in bytes
  tags            TEXT    NOT NULL, -- each tag, with U+034F after every 30 marks that a further one follows, in NFC, trimmed, white space collapsed to single blanks, in lower case, upper case and lower case again (Unicode default mappings), in NFC again
  records         TEXT    NOT NULL, -- without nextSessionStartAt and nextSessionId, which depend on the time of the request
  PRIMARY KEY (organization_id, first_row)
) STRICT;

-- Sessions, in the order of their events, then earliest start first, then by id.
CREATE TABLE session_runs (
  organization_id TEXT    NOT NULL,
  first_row       INTEGER NOT NULL,
  changed_at      TEXT    NOT NULL,
  record_lengths  TEXT    NOT NULL,
  event_id        TEXT    NOT NULL, -- id of the event, of the same organization
  starts          TEXT    NOT NULL, -- instant of startAt
  records         TEXT    NOT NULL,
  PRIMARY KEY (organization_id, first_row)
) STRICT;

-- Tickets, latest issued first, then by id.
CREATE TABLE ticket_runs (
  organization_id  TEXT    NOT NULL,
  first_row        INTEGER NOT NULL,
  changed_at       TEXT    NOT NULL,
  record_lengths   TEXT    NOT NULL,
  event_id         TEXT    NOT NULL, -- eventId
  event_session_id TEXT    NOT NULL, -- eventSessionId
  order_id         TEXT    NOT NULL, -- orderId
  qr_code          TEXT    NOT NULL, -- qrCode
  updated_at       TEXT    NOT NULL, -- instant of updatedAt
  records          TEXT    NOT NULL,
  PRIMARY KEY (organization_id, first_row)
) STRICT;

-- Orders, latest created first, then by id.
CREATE TABLE order_runs (
  organization_id TEXT    NOT NULL,
  first_row       INTEGER NOT NULL,
  changed_at      TEXT    NOT NULL,
  record_lengths  TEXT    NOT NULL,
  status          TEXT    NOT NULL, -- status
  email           TEXT    NOT NULL, -- customer.email in lower case (Unicode default mapping); empty without a customer
  updated_at      TEXT    NOT NULL, -- instant of updatedAt
  event_ids       TEXT    NOT NULL, -- each placedItems[].eventId
  records         TEXT    NOT NULL,
  PRIMARY KEY (organization_id, first_row)
) STRICT;

-- Offers of the catalog, earliest created first, then by id.
CREATE TABLE offer_runs (
  organization_id TEXT    NOT NULL,
  first_row       INTEGER NOT NULL,
  changed_at      TEXT    NOT NULL,
  record_lengths  TEXT    NOT NULL,
  type            TEXT    NOT NULL, -- type: TICKET, PRODUCT or BUNDLE
  created_at      TEXT    NOT NULL, -- instant of createdAt
  event_ids       TEXT    NOT NULL, -- eventId of a TICKET offer; of any other, the events that hold it, which its record does not name
  resale_enabled  TEXT    NOT NULL, -- each pricing[].resaleEnabled of a TICKET offer: "true", "false"
  records         TEXT    NOT NULL,
  PRIMARY KEY (organization_id, first_row)
) STRICT;

-- The deletions: a row for each record that a snapshot of the organization's history held and this one lacks.
CREATE TABLE deletions (
  organization_id TEXT NOT NULL,
  collection      TEXT NOT NULL, -- of the record: events, sessions, tickets, orders or offers
  id              TEXT NOT NULL, -- of the record
  deleted_at      TEXT NOT NULL, -- production time of the first snapshot without it, RFC 3339, UTC
  PRIMARY KEY (organization_id, collection, id)
) STRICT, WITHOUT ROWID;

-- One row for each record. A look-up by id reads the whole collection. LIMIT -1, which is no limit, keeps SQLite from
-- flattening a view into a query: a sort or group would then carry whole run columns with every record.

CREATE VIEW events AS
SELECT
  organization_id,
  first_row + record.key AS row,
  record.value ->> 'id' AS event_id,
  CASE typeof(nullif(changed_at, '') ->> record.key)
    WHEN 'integer' THEN changed_at ->> (changed_at ->> record.key)
    WHEN 'text' THEN changed_at ->> record.key
  END AS changed_at,
  record.value AS record
FROM event_runs, json_each('[' || records || ']') AS record
LIMIT -1;

CREATE VIEW sessions AS
SELECT
  organization_id,
  first_row + record.key AS row,
  record.value ->> 'id' AS session_id,
  CASE typeof(event_id ->> record.key)
    WHEN 'integer' THEN event_id ->> (event_id ->> record.key) -- the position of an earlier element
    ELSE event_id ->> record.key
  END AS event_id,
  starts ->> record.key AS starts,
  record.value ->> 'startAt' AS start_at,
  CASE typeof(nullif(changed_at, '') ->> record.key)
    WHEN 'integer' THEN changed_at ->> (changed_at ->> record.key)
    WHEN 'text' THEN changed_at ->> record.key
  END AS changed_at,
  record.value AS record
FROM session_runs, json_each('[' || records || ']') AS record
LIMIT -1;

CREATE VIEW tickets AS
SELECT
  organization_id,
  first_row + record.key AS row,
  record.value ->> 'ticketId' AS ticket_id,
  record.value ->> 'eventId' AS event_id,
  record.value ->> 'eventSessionId' AS event_session_id,
  record.value ->> 'orderId' AS order_id,
  record.value ->> 'qrCode' AS qr_code,
  updated_at ->> record.key AS updated_at,
  CASE typeof(nullif(changed_at, '') ->> record.key)
    WHEN 'integer' THEN changed_at ->> (changed_at ->> record.key)
    WHEN 'text' THEN changed_at ->> record.key
  END AS changed_at,
  record.value AS record
FROM ticket_runs, json_each('[' || records || ']') AS record
LIMIT -1;

CREATE VIEW orders AS
SELECT
  organization_id,
  first_row + record.key AS row,
  record.value ->> 'orderId' AS order_id,
  record.value ->> 'status' AS status,
  CASE typeof(email ->> record.key)
    WHEN 'integer' THEN email ->> (email ->> record.key) -- the position of an earlier element
    ELSE email ->> record.key
  END AS email,
  updated_at ->> record.key AS updated_at,
  CASE typeof(nullif(changed_at, '') ->> record.key)
    WHEN 'integer' THEN changed_at ->> (changed_at ->> record.key)
    WHEN 'text' THEN changed_at ->> record.key
  END AS changed_at,
  record.value AS record
FROM order_runs, json_each('[' || records || ']') AS record
LIMIT -1;

CREATE VIEW offers AS
SELECT
  organization_id,
  first_row + record.key AS row,
  record.value ->> 'offerId' AS offer_id,
  record.value ->> 'type' AS type,
  created_at ->> record.key AS created_at,
  CASE typeof(nullif(changed_at, '') ->> record.key)
    WHEN 'integer' THEN changed_at ->> (changed_at ->> record.key)
    WHEN 'text' THEN changed_at ->> record.key
  END AS changed_at,
  record.value AS record
FROM offer_runs, json_each('[' || records || ']') AS record
LIMIT -1;

-- One row for each element of a list. "event_row", "order_row" and "offer_row" are the rows of the records.

CREATE VIEW event_tags AS
SELECT organization_id, first_row + tags.key AS event_row, tag.value AS tag
FROM event_runs, json_each(tags) AS tags, json_each(tags.value) AS tag
LIMIT -1;

CREATE VIEW order_events AS
SELECT organization_id, first_row + events.key AS order_row, event.value AS event_id
FROM order_runs, json_each(event_ids) AS events, json_each(events.value) AS event
LIMIT -1;

CREATE VIEW offer_events AS
SELECT organization_id, first_row + events.key AS offer_row, event.value AS event_id
FROM offer_runs, json_each(event_ids) AS events, json_each(events.value) AS event
LIMIT -1;

CREATE VIEW offer_resales AS
SELECT organization_id, first_row + resales.key AS offer_row, resale.value AS resale_enabled
FROM offer_runs, json_each(resale_enabled) AS resales, json_each(resales.value) AS resale
LIMIT -1;
