#!/usr/bin/env python3
"""Keeps a copy of an organization's records in an SQLite database.

    FOYER_KEY=svc:o:ORGANIZATION:SECRET python3 sync.py https://tickets.example.org copy.sqlite --every 60

Without --every, it makes one round. It needs Python 3.11 and requests. docs/integrators.md explains each step.
"""

import argparse
import json
import os
import sqlite3
import sys
import time
from datetime import datetime, timedelta
from urllib.parse import quote

import requests

# A record whose transaction commits after the export has read its table has an updatedAt before the time of the data
# that lacks it. The overlap must be longer than the longest transaction and the export together.
OVERLAP = timedelta(minutes=10)
# Deletions are listed for a time, usually 90 days. A copy that is older begins anew.
MAX_AGE = timedelta(days=60)
# Longest pause after 429 without Retry-After, as of a proxy, in seconds. The pauses begin with 1, and double.
MAX_PAUSE = 30
# Attempts at a round. Newer data that goes live during one makes it begin again.
ATTEMPTS = 5

SCHEMA = """
CREATE TABLE IF NOT EXISTS records (
  collection TEXT, id TEXT, event_id TEXT, body TEXT, -- event_id: of sessions, whose bodies lack it
  PRIMARY KEY (collection, id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS state (name TEXT PRIMARY KEY, value TEXT);
"""


class NewerData(Exception):
    """The responses of a round come from more than one snapshot."""


class OutdatedCopy(Exception):
    """The changes since the previous round do not lead from the copy to the data of the service."""


class Source:
    """The lists of the service, in the snapshot of the first response."""

    def __init__(self, base_url, session):
        self.base_url = base_url
        self.session = session
        self.snapshot = None
        self.as_of = None

    def get(self, path, tag=None, **filters):
        """Requests a list as a stream. Waits after 429. Returns the response, 200 or 304."""
        headers = {"If-None-Match": tag} if tag else {}
        pause = 1
        while True:
            response = self.session.get(
                self.base_url + path, params=filters, headers=headers, stream=True, timeout=60
            )
            if response.status_code != 429:
                break
            response.close()
            time.sleep(int(response.headers.get("Retry-After", pause)))
            pause = min(2 * pause, MAX_PAUSE)
        if response.status_code == 404 and self.snapshot is not None:
            # The event of these sessions is not in the data that is live now.
            raise NewerData
        response.raise_for_status()
        if self.snapshot not in (None, response.headers["Service-Snapshot-Id"]):
            response.close()
            raise NewerData
        self.snapshot = response.headers["Service-Snapshot-Id"]
        self.as_of = response.headers["Service-Data-As-Of"]
        return response


def copy_round(source, database, copied):
    """Brings the copy to the data of one snapshot. `copied` is the time of the copied data; None for a first copy."""
    since = copied and (datetime.fromisoformat(copied) - OVERLAP).isoformat()
    window = {"updatedAt.gte": since} if since else {}
    if not since:
        database.execute("DELETE FROM records")
        database.execute("DELETE FROM state")

    # Tickets and orders: all of them first, then those that changed, and the deletions.
    tickets = source.get("/v1/tickets", **window)
    if copied and not timedelta(0) <= time_between(copied, source.as_of) <= MAX_AGE:
        # The copy is too old, or the service has gone back to older data: the copy has changes that the data lacks.
        tickets.close()
        raise OutdatedCopy
    put(database, "tickets", "ticketId", tickets)
    put(database, "orders", "orderId", source.get("/v1/orders", **window))
    if since:
        with source.get("/v1/deletions", **{"deletedAt.gte": since}) as response:
            database.executemany(
                "DELETE FROM records WHERE collection = :collection AND id = :id",
                map(json.loads, lines(response)),
            )

    # Events, sessions and offers have no such filter: the whole list, unless it is unchanged.
    if replace(database, "events", "id", "/v1/events", source):
        database.execute("DELETE FROM records WHERE collection = 'sessions'")
        events = database.execute("SELECT id FROM records WHERE collection = 'events'").fetchall()
        for (event,) in events:
            sessions = source.get(f"/v1/events/{quote(event, safe='')}/sessions")
            put(database, "sessions", "id", sessions, event)
    replace(database, "offers", "offerId", "/v1/catalog/offers", source)

    set_state(database, "asOf", source.as_of)
    set_state(database, "snapshot", source.snapshot)


def time_between(earlier, later):
    return datetime.fromisoformat(later) - datetime.fromisoformat(earlier)


def put(database, collection, id_field, response, event=None):
    """Adds or replaces the records of a response. A response that breaks off raises an error."""
    with response:
        database.executemany(
            "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?)",
            ((collection, json.loads(line)[id_field], event, line.decode()) for line in lines(response)),
        )


def lines(response):
    return response.iter_lines(chunk_size=65536)


def replace(database, collection, id_field, path, source):
    """Replaces a collection by a list. Returns whether the list has changed since the previous round."""
    with source.get(path, tag=get_state(database, path)) as response:
        if response.status_code == 304:
            return False
        database.execute("DELETE FROM records WHERE collection = ?", [collection])
        put(database, collection, id_field, response)
        set_state(database, path, response.headers["ETag"])
        return True


def get_state(database, name):
    row = database.execute("SELECT value FROM state WHERE name = ?", [name]).fetchone()
    return row and row[0]


def set_state(database, name, value):
    database.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", [name, value])


def sync(base_url, session, database):
    """Makes a round in one transaction, so that the copy always equals one snapshot."""
    copied = get_state(database, "asOf")
    for _ in range(ATTEMPTS):
        try:
            with database:
                copy_round(Source(base_url, session), database, copied)
            return
        except NewerData:
            continue
        except OutdatedCopy:
            copied = None
    raise requests.RequestException("newer data went live during each attempt")


def main():
    arguments = argparse.ArgumentParser(description="Keeps a copy of an organization's records.")
    arguments.add_argument("base_url")
    arguments.add_argument("database")
    arguments.add_argument("--every", type=float, metavar="SECONDS", help="repeat the round after this pause")
    options = arguments.parse_args()

    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {os.environ['FOYER_KEY']}"
    session.headers["Accept"] = "application/x-ndjson"
    # Offers and deletions are in preview.
    session.headers["Service-API-Version"] = "preview"
    database = sqlite3.connect(options.database)
    database.executescript(SCHEMA)
    while True:
        try:
            sync(options.base_url, session, database)
            print(f"copied the data as of {get_state(database, 'asOf')}", flush=True)
        except requests.RequestException as error:
            # The copy is unchanged. The next round begins with the same window.
            print(f"not copied: {error}", file=sys.stderr, flush=True)
            if options.every is None:
                sys.exit(1)
        if options.every is None:
            return
        time.sleep(options.every)


if __name__ == "__main__":
    main()
