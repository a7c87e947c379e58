-- Schema of a Foyer keys file, version 1.
--
-- The keys file is one SQLite file (UTF-8, rollback journal, readable by its owner and group) with the API keys. It is
-- separate from the snapshots, so that keys are created and revoked without touching data. The command `npm run keys`
-- writes it, the server only reads it, and any SQLite tool opens it:
--
--   SELECT key_id, organization_id, label, created_at, expires_at, revoked_at FROM keys ORDER BY created_at;
--
-- The file holds no keys, only their digests. A key is 256 random bits, so its digest does not reveal it.

PRAGMA application_id = 0x466F796B; -- "Foyk"
PRAGMA user_version = 1;            -- the version of this schema

-- Valid, expired and revoked keys. A request with an expired or revoked key is refused with that reason.
CREATE TABLE keys (
  key_id          TEXT PRIMARY KEY, -- identifies the key in commands and log lines; not secret
  organization_id TEXT NOT NULL,    -- the organization in the credential svc:o:<organization_id>:<key>
  label           TEXT NOT NULL,    -- holder or purpose, for operators; may be empty
  digest          BLOB NOT NULL UNIQUE CHECK (length(digest) = 32), -- SHA-256 of the <key> of the credential
  created_at      TEXT NOT NULL,    -- ISO 8601, UTC
  expires_at      TEXT,             -- ISO 8601; the key is refused from this time on; null: it does not expire
  revoked_at      TEXT              -- ISO 8601, UTC; null unless the key is revoked
) STRICT;

-- A second copy of the columns that authenticate a request. SQLite's integrity check compares an index with its
-- table, and thus detects a changed byte in any of them.
CREATE INDEX keys_by_organization ON keys (organization_id, digest, expires_at, revoked_at);
