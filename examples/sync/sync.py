#!/usr/bin/env python3
"""Keeps a copy of an organization's records in an SQLite database.

    FOYER_KEY=svc:o:ORGANIZATION:SECRET python3 sync.py https://tickets.example.org copy.sqlite --every 60

Without --every, it makes one round. --events evt_42,evt_43 limits the copy to these events. It needs Python 3.11 and
requests. The guide of the service, /docs/guide, explains the changes.
"""

import argparse
import json
import os
import sqlite3
import sys
import time

from requests import RequestException, Session

SCHEMA = """
CREATE TABLE IF NOT EXISTS records (
  collection TEXT, id TEXT, event_id TEXT, body TEXT, -- event_id: of sessions, whose bodies lack it
  PRIMARY KEY (collection, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT);
"""


def add_key(request):
    """Adds the key. An entry of ~/.netrc would replace a header of the session."""
    request.headers["Authorization"] = f"Bearer {os.environ['FOYER_KEY'].strip()}"
    return request


def detail_of(response):
    """Returns the explanation of a refusal. A proxy may send another form."""
    try:
        return response.json()["detail"]
    except (ValueError, KeyError, TypeError):
        return response.reason


def request_changes(session, base_url, query):
    """Returns the response, whose body has not arrived yet. Waits after 429."""
    url, pause = f"{base_url}/v1/changes", 1
    while (response := session.get(url, params=query, stream=True, timeout=60)).status_code == 429:
        response.close()
        # A proxy may send no Retry-After, or a date.
        seconds = response.headers.get("Retry-After", "")
        time.sleep(max(pause, int(seconds) if seconds.isdecimal() else 0))
        pause = min(2 * pause, 30)
    if response.status_code == 403:
        sys.exit(f"not copied: {response.status_code}: {detail_of(response)}")  # It would be the same again.
    if response.status_code != 200:
        raise RequestException(f"{response.status_code}: {detail_of(response)}")
    return response


def copy_round(session, base_url, database, event_ids):
    """Applies the changes since the stored token in one transaction, or nothing. Returns the last line."""
    token = database.execute("SELECT value FROM state WHERE name = 'token'").fetchone()
    query = {"since": token and token[0], "eventIds": event_ids}
    with database, request_changes(session, base_url, query) as response:
        for line in response.iter_lines(chunk_size=65536):
            match json.loads(line):
                case {"change": "reset"}:
                    database.execute("DELETE FROM records")
                case {"change": "delete", "collection": collection, "id": key}:
                    database.execute("DELETE FROM records WHERE collection = ? AND id = ?", (collection, key))
                case {"change": "put", "collection": collection, "id": key, "record": record} as put:
                    row = (collection, key, put.get("eventId"), json.dumps(record))
                    database.execute("REPLACE INTO records VALUES (?, ?, ?, ?)", row)
                case {"change": "end", "next": token, "dataAsOf": as_of} as end:
                    database.execute("REPLACE INTO state VALUES ('token', ?), ('asOf', ?)", (token, as_of))
                    return end
                case _:
                    raise RequestException("the response has a change that this program does not know")
        raise RequestException("the response broke off")


parser = argparse.ArgumentParser(description="Keeps a copy of an organization's records.")
parser.add_argument("base_url")
parser.add_argument("database")
parser.add_argument("--events", metavar="IDS", help="copy these events only, with commas between them")
parser.add_argument("--every", type=float, metavar="SECONDS", help="repeat the round after this pause")
options = parser.parse_args()
if not os.environ.get("FOYER_KEY"):
    parser.error("the environment variable FOYER_KEY is missing")
base_url = options.base_url.rstrip("/")
events = options.events and ",".join(event.strip() for event in options.events.split(","))
session = Session()
session.auth = add_key
session.max_redirects = 0  # After a redirect, ~/.netrc would replace the key.
session.headers["Service-API-Version"] = "preview"
database = sqlite3.connect(options.database)
database.executescript(SCHEMA)
while True:
    try:
        end = copy_round(session, base_url, database, events)
        counts = ", ".join(f"{count} {collection}" for collection, count in end["counts"].items())
        print(f"copied the data as of {end['dataAsOf']}: {counts}", flush=True)
        status = 0
    except (RequestException, ValueError) as error:  # ValueError: a line that broke off
        print(f"not copied: {error}", file=sys.stderr, flush=True)
        status = 1
    if options.every is None:
        sys.exit(status)
    time.sleep(options.every)
