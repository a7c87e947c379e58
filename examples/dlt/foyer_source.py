#!/usr/bin/env python3
"""Keeps a copy of an organization's records in DuckDB, with dlt (https://dlthub.com).

    FOYER_KEY=svc:o:ORGANIZATION:SECRET python3 foyer_source.py https://tickets.example.org copy.duckdb

It makes one round. --events evt_42,evt_43 limits the copy to these events. It needs Python 3.11 and
"dlt[duckdb,parquet]>=1.31". The guide of the service, /docs/guide, explains the changes. A pipeline to
another destination makes the same three calls with foyer().
"""

import argparse
import json
import os

import dlt
from dlt.sources.helpers import requests
from dlt.sources.helpers.rest_client.auth import BearerTokenAuth

KEYS = {"events": "id", "sessions": "id", "tickets": "ticketId", "orders": "orderId", "offers": "offerId"}
TYPES = {"string": "text", "integer": "bigint", "number": "double", "boolean": "bool"}  # Others are JSON.


def resolve(schema, schemas):
    """Returns the schema, or the one to which it refers."""
    return schemas[schema["$ref"].split("/")[-1]] if "$ref" in schema else schema


def columns_of(schema, schemas):
    """Returns the columns for the fields of a schema, or of all its variants."""
    schema, columns = resolve(schema, schemas), {}
    for variant in schema.get("oneOf", []):
        columns |= columns_of(variant, schemas)
    for name, field in schema.get("properties", {}).items():
        kind = resolve(field, schemas).get("type")  # A nullable object has none.
        kind = kind[0] if isinstance(kind, list) else kind
        columns[name] = {"data_type": "timestamp" if name.endswith("At") else TYPES.get(kind, "json")}
    return columns


def read_columns(base_url):
    """Returns the columns of each table. Without them, dlt takes the type of the first value."""
    document = requests.get(f"{base_url}/openapi.json").json()
    schemas = document["components"]["schemas"]
    content = document["paths"]["/v1/changes"]["get"]["responses"]["200"]["content"]
    change = resolve(content["application/x-ndjson"]["schema"], schemas)
    lines = [resolve(line, schemas)["properties"] for line in change["oneOf"]]
    columns = {put["collection"]["const"]: columns_of(put["record"], schemas) for put in lines if "record" in put}
    columns["sessions"]["eventId"] = {"data_type": "text"}
    return columns


def parse(line):
    """Parses a line. A half of a character (a lone surrogate), which UTF-8 cannot have, becomes a question mark."""
    change = json.loads(line)
    return json.loads(json.dumps(change, ensure_ascii=False).encode(errors="replace")) if rb"\ud" in line else change


def mark_tables(columns, scope, rows):
    """Yields how each table is loaded: its new rows replace those in the scope, in one transaction."""
    naming = dlt.current.source_schema().naming
    for table, key in KEYS.items():
        where = scope.replace("KEY", naming.normalize_identifier(key))
        hints = dlt.mark.make_hints(
            table_name=table,
            primary_key=key,
            columns=columns[table] | {"deleted": {"data_type": "bool", "hard_delete": True}},
            write_disposition={"disposition": "merge", "strategy": "delete-insert", "destination_scope": where},
        )
        yield dlt.mark.with_hints(rows, hints, create_table_variant=True)


@dlt.resource
def changes(base_url, key, event_ids):
    """Yields the changes since the previous round. dlt loads their token, as its state, together with them."""
    state, columns = dlt.current.resource_state(), read_columns(base_url)
    headers = {"Service-API-Version": "preview"}
    # An entry of ~/.netrc would replace a key in the headers, and after a redirect any key.
    client = requests.Client(session_attrs={"auth": BearerTokenAuth(key), "max_redirects": 0})
    parameters = {"since": state.get("token"), "collections": ",".join(KEYS), "eventIds": event_ids}
    # After 429 and 5xx, this client of dlt waits for Retry-After, and repeats the request.
    with client.get(f"{base_url}/v1/changes", params=parameters, headers=headers, stream=True) as response:
        yield from mark_tables(columns, "KEY IN (SELECT KEY FROM {staging_table})", [])
        for line in response.iter_lines(chunk_size=65536):
            match parse(line):
                case {"change": "reset"}:
                    # All rows are in the scope, also those of a table that gets no new ones.
                    yield from mark_tables(columns, "1 = 1", dlt.mark.materialize_table_schema())
                case {"change": "delete", "collection": table, "id": id}:
                    yield dlt.mark.with_table_name({KEYS[table]: id, "deleted": True}, table)
                case {"change": "put", "collection": table, "record": record} as put:
                    event = {"eventId": put["eventId"]} if table == "sessions" else {}
                    yield dlt.mark.with_table_name(record | event, table)
                case {"change": "end", "next": token, "dataAsOf": as_of}:
                    state.update(token=token, dataAsOf=as_of)
                    return
                case _:
                    raise ValueError("the response has a change that this program does not know")
    raise ValueError("the response broke off")  # dlt discards the rows of a round that fails.


@dlt.source(max_table_nesting=0)  # Objects and lists become JSON in one column.
def foyer(base_url: str = dlt.config.value, key: str = dlt.secrets.value, event_ids: str | None = None):
    """Returns the records of an organization, or of some of its events."""
    return changes(base_url, key, event_ids)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Keeps a copy of an organization's records in DuckDB.")
    parser.add_argument("base_url")
    parser.add_argument("database")
    parser.add_argument("--events", metavar="IDS", help="copy these events only, with commas between them")
    options = parser.parse_args()
    # dlt keeps loaded rows in its folder and in a second dataset, by default.
    dlt.config["load.delete_completed_jobs"] = dlt.config["load.truncate_staging_dataset"] = True
    pipeline = dlt.pipeline(
        "foyer",
        destination=dlt.destinations.duckdb(options.database),
        dataset_name="foyer",
        pipelines_dir=f"{options.database}.dlt",
    )
    # A round that was killed may have left changes that are not loaded. The next round begins with their token.
    pipeline.normalize()
    pipeline.load()
    source = foyer(options.base_url, os.environ["FOYER_KEY"], options.events)
    pipeline.run(source, loader_file_format="parquet")
    print("copied the data as of", pipeline.state["sources"]["foyer"]["resources"]["changes"]["dataAsOf"])
