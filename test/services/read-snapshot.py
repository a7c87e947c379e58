"""Prints the digests of a snapshot file, computed of its content by docs/snapshot-format.md alone, as JSON.

It needs the standard library only.
"""

import base64
import hashlib
import json
import sqlite3
import sys
from pathlib import Path

COLLECTIONS = ["events", "sessions", "tickets", "orders", "offers"]
LISTS = ["tags", "event_ids", "resale_enabled"]

database = sqlite3.connect(f"{Path(sys.argv[1]).resolve().as_uri()}?mode=ro", uri=True)


def rows_of(sql, *parameters):
    return database.execute(sql, parameters).fetchall()


def to_json(values):
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def base64url(digest):
    return base64.urlsafe_b64encode(digest.digest()).decode().rstrip("=")


def digest_of(lines):
    return base64url(hashlib.sha256("".join(to_json(line) + "\n" for line in lines).encode()))


def size(text):
    return len(text.encode())


def list_of(organization_id, collection):
    """Returns the row of `lists` for a collection of an organization, or None without records."""
    columns = [name for (name,) in rows_of("SELECT name FROM pragma_table_info(?)", collection)]
    id_column, index_columns = columns[2], columns[3:-2]
    record_count = record_bytes = text_bytes = list_elements = longest_row = records_sum = 0
    all_values, all_records = hashlib.sha256(), hashlib.sha256()
    for row in rows_of(f"SELECT * FROM {collection} WHERE organization_id = ? ORDER BY row", organization_id):
        stored = dict(zip(columns, row))
        record = stored["record"]
        values = [stored[id_column]]
        row_bytes = size(stored[id_column]) + size(record)
        for name in index_columns:
            value = stored[name]
            if isinstance(value, str):
                row_bytes += size(value)
                texts = json.loads(value) if name in LISTS else [value]
                text_bytes += sum(map(size, texts))
                if name in LISTS:
                    list_elements += len(texts)
                    value = texts
            values.append(value)
        record_count += 1
        record_bytes += size(record)
        longest_row = max(longest_row, row_bytes)
        digest = hashlib.sha256(f"{to_json([collection, *values])}\n{record}".encode())
        records_sum += int(digest.hexdigest(), 16)
        all_values.update(f"{to_json([size(record), stored['changed_at'], *values])},".encode())
        all_records.update(f"{record},".encode())
    if record_count == 0:
        return None
    digest = hashlib.sha256(f"{all_values.hexdigest()}\n{all_records.hexdigest()}\n".encode())
    counts = [record_count, record_count, record_bytes, text_bytes, list_elements, longest_row]
    return [organization_id, collection, *counts, f"{records_sum % 2**256:064x}", base64url(digest)]


def content_line(collection, computed):
    return [collection, computed[3], computed[8]] if computed else [collection, 0, "0" * 64]


organizations, lists, contents = [], [], {}
for organization_id, name, since in rows_of("SELECT organization_id, name, since FROM organizations ORDER BY 1"):
    deletions = rows_of(
        "SELECT collection, id, deleted_at FROM deletions WHERE organization_id = ? ORDER BY 1, 2", organization_id
    )
    organizations.append([organization_id, name, since, digest_of(deletions)])
    computed = [list_of(organization_id, collection) for collection in COLLECTIONS]
    lists += sorted(filter(None, computed))
    contents[organization_id] = digest_of(map(content_line, COLLECTIONS, computed))

declared = [
    *rows_of("SELECT snapshot_id, produced_at, epoch, changes_since, permits_rollback, permits_shrink FROM snapshot"),
    *rows_of("SELECT snapshot_id, produced_at FROM ancestors ORDER BY rowid"),
]
digest = digest_of([*declared, *organizations, *lists])
print(json.dumps({"digest": digest, "organizations": organizations, "lists": lists, "contents": contents}))
