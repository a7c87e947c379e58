-- Schema of a Foyer keys file, version 1.
--
-- The keys file is one SQLite file (UTF-8, rollback journal, readable by its owner alone) that says which API
-- keys there are. It is apart from the snapshots: a key is made or revoked without touching data. The command
-- `npm run keys` writes it, the server only reads it, and any SQLite tool opens it:
--
--   SELECT key_id, organization_id, label, created_at, revoked_at FROM keys ORDER BY created_at;
--
-- No key can be got out of it: of each it holds a digest alone, and a key is 256 random bits.

PRAGMA application_id = 0x466F796B; -- "Foyk"
PRAGMA user_version = 1;            -- the version of this schema

-- The keys, revoked ones too: who presents one of those is told so.
CREATE TABLE keys (
  key_id          TEXT PRIMARY KEY, -- names the key in commands and in the log; not secret
  organization_id TEXT NOT NULL,    -- whose records the key opens, as in the credential svc:o:<organization_id>:<key>
  label           TEXT NOT NULL,    -- for people: who holds it, what for; may be empty
  digest          BLOB NOT NULL UNIQUE CHECK (length(digest) = 32), -- SHA-256 of the key as it stands in the credential
  created_at      TEXT NOT NULL,    -- ISO 8601, UTC
  revoked_at      TEXT              -- ISO 8601, UTC; null while the key is good
) STRICT;

-- What decides about a request stands here a second time. SQLite's integrity check compares an index with its
-- table, so a changed byte in any of it is found.
CREATE INDEX keys_by_organization ON keys (organization_id, digest, revoked_at);
