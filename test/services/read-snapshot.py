"""Prints the digests of a snapshot's files, computed of their content by docs/snapshot-format.md alone, as JSON.

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


def to_json(values):
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def base64url(digest):
    return base64.urlsafe_b64encode(digest.digest()).decode().rstrip("=")


def digest_of(lines):
    return base64url(hashlib.sha256("".join(to_json(line) + "\n" for line in lines).encode()))


def size(text):
    return len(text.encode())


class File:
    """A whole file, or one of changes."""

    def __init__(self, path):
        self.database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        [self.snapshot] = self.rows_of("SELECT * FROM snapshot")
        self.snapshot_id, self.produced_at, self.epoch, self.changes_since = self.snapshot[:4]
        self.ancestors = self.rows_of("SELECT snapshot_id, produced_at FROM ancestors ORDER BY rowid")
        self.since = dict(self.rows_of("SELECT organization_id, since FROM organizations ORDER BY 1"))

    def rows_of(self, sql, *parameters):
        return self.database.execute(sql, parameters).fetchall()

    def columns_of(self, collection):
        return [name for (name,) in self.rows_of("SELECT name FROM pragma_table_info(?)", collection)]

    def records(self, organization_id, collection):
        columns = self.columns_of(collection)
        sql = f"SELECT * FROM {collection} WHERE organization_id = ? ORDER BY row"
        return [dict(zip(columns, row)) for row in self.rows_of(sql, organization_id)]

    def deletions(self, organization_id):
        sql = "SELECT collection, id, deleted_at FROM deletions WHERE organization_id = ? ORDER BY 1, 2"
        return self.rows_of(sql, organization_id)

    def applies_to(self, whole):
        known = [self.snapshot_id, *(snapshot_id for snapshot_id, _ in self.ancestors)]
        # All times are of one form here.
        return (
            self.epoch == whole.epoch and whole.snapshot_id in known and whole.produced_at >= self.changes_since != ""
        )


def merged(whole, changes, organization_id, collection, first_row):
    """Returns the records of a list of the pair."""
    id_column = whole.columns_of(collection)[2]
    changed = changes.records(organization_id, collection)
    gone = {record[id_column] for record in changed}
    gone |= {key for name, key, _ in changes.deletions(organization_id) if name == collection}
    is_later = changes.since[organization_id] > whole.produced_at
    stored = [] if is_later else whole.records(organization_id, collection)
    staying = [record for record in stored if record[id_column] not in gone]
    for record in changed:
        staying.insert(record["row"] - first_row, record)
    return staying


def list_of(file, organization_id, collection, first_row, records):
    """Returns the row of `lists` for a collection of an organization, or None without records."""
    columns = file.columns_of(collection)
    id_column, index_columns = columns[2], columns[3:-2]
    record_bytes = text_bytes = list_elements = longest_row = records_sum = 0
    file_rows = {record["row"] for record in file.records(organization_id, collection)}
    all_values, all_records, all_rows = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()
    for row, stored in enumerate(records, first_row):
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
        record_bytes += size(record)
        longest_row = max(longest_row, row_bytes)
        digest = hashlib.sha256(f"{to_json([collection, *values])}\n{record}".encode())
        records_sum += int(digest.hexdigest(), 16)
        if row in file_rows:
            all_values.update(f"{to_json([size(record), stored['changed_at'], *values])},".encode())
            all_records.update(f"{record},".encode())
            all_rows.update(f"{row - first_row},".encode())
    if not records:
        return None
    # A bound, which may be larger.
    sql = "SELECT longest_row FROM lists WHERE organization_id = ? AND collection = ?"
    longest_row = max(longest_row, *(bound for (bound,) in file.rows_of(sql, organization_id, collection)))
    parts = [all_values, all_records, all_rows] if file.changes_since else [all_values, all_records]
    digest = hashlib.sha256("".join(f"{part.hexdigest()}\n" for part in parts).encode())
    counts = [len(file_rows), len(records), record_bytes, text_bytes, list_elements, longest_row]
    return [organization_id, collection, *counts, f"{records_sum % 2**256:064x}", base64url(digest)]


def content_line(collection, computed):
    return [collection, computed[3], computed[8]] if computed else [collection, 0, "0" * 64]


def computed_of(file, records_of):
    """Returns the digest of the manifest, the rows of `organizations` and `lists`, and the digests of the contents."""
    organizations, lists, contents, counts = [], [], {}, dict.fromkeys(COLLECTIONS, 0)
    for organization_id, name, since in file.rows_of("SELECT organization_id, name, since FROM organizations ORDER BY 1"):
        organizations.append([organization_id, name, since, digest_of(file.deletions(organization_id))])
        computed = []
        for collection in COLLECTIONS:
            first_row = counts[collection] + 1
            records = records_of(organization_id, collection, first_row)
            counts[collection] += len(records)
            computed.append(list_of(file, organization_id, collection, first_row, records))
        lists += sorted(filter(None, computed))
        contents[organization_id] = digest_of(map(content_line, COLLECTIONS, computed))
    digest = digest_of([file.snapshot[:-1], *file.ancestors, *organizations, *lists])
    return {"digest": digest, "organizations": organizations, "lists": lists, "contents": contents}


path = Path(sys.argv[1])
changes_path = path.with_suffix(".changes")
changes = File(changes_path) if changes_path.exists() else None
whole = File(path)
output = {"whole": computed_of(whole, lambda organization_id, collection, _: whole.records(organization_id, collection))}
if changes and changes.applies_to(whole):
    output["changes"] = computed_of(changes, lambda *list_: merged(whole, changes, *list_))
print(json.dumps(output))
