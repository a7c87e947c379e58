"""Prints the copy of examples/dlt in a DuckDB database, in the form that the tests of all copies share, as JSON."""

import json
import re
import sys

import duckdb
from dlt.common.versioned_state import decompress_state

database = duckdb.connect(sys.argv[1], read_only=True)
database.execute("SET TimeZone = 'UTC'")


def field_of(column):
    return re.sub("_(.)", lambda found: found[1].upper(), column)


def rows_of(table):
    for (text,) in database.execute(f"SELECT to_json(t) FROM foyer.{table} t").fetchall():
        record = {field_of(name): value for name, value in json.loads(text).items() if not name.startswith("_dlt_")}
        for name, value in record.items():
            if name.endswith("At") and value is not None:
                record[name] = value.replace(" ", "T").replace("+00", "Z")
        event_id = record.pop("eventId") if table == "sessions" else None
        yield {"collection": table, "id": next(iter(record.values())), "event_id": event_id, "body": json.dumps(record)}


tables = ["events", "sessions", "tickets", "orders", "offers"]
state = database.execute("""
    SELECT state FROM foyer._dlt_pipeline_state AS s JOIN foyer._dlt_loads AS l ON l.load_id = s._dlt_load_id
    WHERE l.status = 0 ORDER BY l.load_id DESC LIMIT 1
""").fetchone()
changes = decompress_state(state[0])["sources"]["foyer"]["resources"]["changes"]
print(json.dumps({"time": changes["dataAsOf"], "rows": [row for table in tables for row in rows_of(table)]}))
