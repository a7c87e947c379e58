import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename } from 'node:path';
import type { RefusalReason } from '../../src/snapshot/format/refused-snapshot.ts';
import { FORMAT_VERSION } from '../../src/snapshot/format/schema.ts';
import { inspectSnapshot } from '../../src/snapshot/load/read-snapshot.ts';
import { alterRuns, keepFirst } from '../support/alter-runs.ts';
import { setDeletions } from '../support/deletions.ts';
import { reseal, restamp } from '../support/digests.ts';
import { asOf, change, type Change, producedAtOf } from './altered-snapshot.ts';

/** A kind of file that must not replace a valid snapshot. */
export interface BadFile {
  readonly kind: string;
  readonly reason: RefusalReason;
  /** The message of the refusal. */
  readonly detail: RegExp;
  /**
   * Spoils a file before it replaces the live snapshot.
   * @param path a valid snapshot, newer than the live one
   * @param place the path of the live snapshot
   */
  readonly spoil: (path: string, place: string) => void;
  /** Suffix of a side file to create. */
  readonly beside?: string;
}

/** Changes a file and recomputes all its digests. */
const sealed = (...changes: readonly Change[]) => {
  return (path: string) => {
    change(path, changes);
    reseal(path);
  };
};
/** Changes a file and keeps its digests. */
const unsealed = (...changes: readonly Change[]) => {
  return (path: string) => {
    change(path, changes);
  };
};
/** Changes the manifest and recomputes its digest. */
const declaring = (...changes: readonly Change[]) => {
  return (path: string) => {
    change(path, changes);
    restamp(path);
  };
};
const replaced = (put: (path: string, place: string) => void) => {
  return (path: string, place: string) => {
    rmSync(path);
    put(path, place);
  };
};
const nothing = () => {
  // The file itself is valid.
};

/** Gives the organizations of a file two deletions. */
const withDeletions = (path: string) => {
  const organizationIds = inspectSnapshot(path).organizations.map(({ organizationId }) => organizationId);
  const deletions = ['gone_1', 'gone_2'].map((id, i) => ({
    collection: 'tickets',
    id,
    deletedAt: producedAtOf(i),
  }));
  setDeletions(path, Object.fromEntries(organizationIds.map((id) => [id, deletions])));
};

const CUT: RefusalReason = 'cut-short';
const OTHER_VERSION = FORMAT_VERSION + 1;

export const BAD_FILES: readonly BadFile[] = [
  {
    kind: 'a text file',
    reason: 'not-sqlite',
    detail: /^it is not an SQLite database$/,
    spoil: (path) => {
      writeFileSync(path, 'a text, not a database\n'.repeat(1000));
    },
  },
  {
    kind: 'a file of zeros',
    reason: 'not-sqlite',
    detail: /^it is not an SQLite database$/,
    spoil: (path) => {
      writeFileSync(path, Buffer.alloc(statSync(path).size));
    },
  },
  {
    kind: 'an empty file',
    reason: 'empty',
    detail: /^the file is empty$/,
    spoil: (path) => {
      truncateSync(path, 0);
    },
  },
  {
    kind: 'a snapshot truncated within its header',
    reason: 'not-sqlite',
    detail: /^it is not an SQLite database$/,
    spoil: (path) => {
      truncateSync(path, 99);
    },
  },
  ...[0.01, 0.5, 0.9].map((share) => ({
    kind: `a snapshot truncated to ${share * 100} %`,
    reason: CUT,
    detail: /^its header declares \d+ bytes, but the file has \d+: it is truncated, or still being copied$/,
    spoil: (path: string) => {
      truncateSync(path, Math.floor(statSync(path).size * share));
    },
  })),
  {
    kind: 'a snapshot without its last byte',
    reason: CUT,
    detail: /it is truncated/,
    spoil: (path) => {
      truncateSync(path, statSync(path).size - 1);
    },
  },
  {
    kind: 'a snapshot with an additional byte',
    reason: CUT,
    detail: /bytes were added at its end$/,
    spoil: (path) => {
      appendFileSync(path, '\0');
    },
  },
  {
    kind: "another application's database",
    reason: 'foreign',
    detail: /its application_id is 0x0f055111, not 0x466f7972$/,
    spoil: unsealed('PRAGMA application_id = 252006673'),
  },
  {
    kind: 'another format (the refusal names both versions)',
    reason: 'other-version',
    detail: new RegExp(
      `is ${OTHER_VERSION}, but this Foyer reads format ${FORMAT_VERSION}; rebuild .*: npm run snapshot -- build`,
    ),
    spoil: unsealed(`PRAGMA user_version = ${OTHER_VERSION}`),
  },
  {
    kind: 'a snapshot in WAL mode',
    reason: 'wal',
    detail: /^it is in WAL mode/,
    spoil: unsealed('PRAGMA journal_mode = WAL'),
  },
  {
    kind: 'a snapshot with a journal beside it',
    reason: 'unfinished',
    detail: /^a -journal file exists: the write to it is not complete$/,
    spoil: nothing,
    beside: '-journal',
  },
  {
    kind: 'a snapshot with a write-ahead log beside it',
    reason: 'unfinished',
    detail: /^a -wal file exists/,
    spoil: nothing,
    beside: '-wal',
  },
  {
    kind: 'a view',
    reason: 'schema',
    detail: /: view v is unexpected; rebuild it /,
    spoil: unsealed('CREATE VIEW v AS SELECT * FROM tickets'),
  },
  {
    kind: 'a trigger',
    reason: 'schema',
    detail: /: trigger t is unexpected; rebuild it /,
    spoil: unsealed('CREATE TRIGGER t AFTER INSERT ON ticket_runs BEGIN DELETE FROM order_runs; END'),
  },
  {
    kind: 'a missing column',
    reason: 'schema',
    detail: /: table ticket_runs differs, view tickets is missing; rebuild it /,
    spoil: unsealed('DROP VIEW tickets; ALTER TABLE ticket_runs DROP COLUMN qr_code'),
  },
  {
    kind: 'an extra column',
    reason: 'schema',
    detail: /: table order_runs differs; rebuild it /,
    spoil: unsealed('ALTER TABLE order_runs ADD COLUMN more TEXT'),
  },
  {
    kind: 'a missing view',
    reason: 'schema',
    detail: /: view offer_resales is missing; rebuild it /,
    spoil: unsealed('DROP VIEW offer_resales'),
  },
  {
    kind: 'fewer runs than declared',
    reason: 'inconsistent',
    detail: /^ticket_runs has 0 rows, but "runs" declares 1 for tickets$/,
    spoil: declaring('DELETE FROM ticket_runs'),
  },
  {
    kind: 'more declared records than a run may have',
    reason: 'inconsistent',
    detail: /^"runs" is out of bounds for tickets of "[\w-]+" at row 0$/,
    spoil: declaring("UPDATE runs SET record_count = 5000 WHERE collection = 'tickets'"),
  },
  {
    kind: 'fewer record bytes than declared',
    reason: 'inconsistent',
    detail: /^the records of order_runs have \d+ bytes at row 0, "runs" declares \d+$/,
    spoil: declaring("UPDATE runs SET record_bytes = record_bytes + 1 WHERE collection = 'orders'"),
  },
  {
    kind: 'more declared record bytes than the file has',
    reason: 'inconsistent',
    detail: /^"runs" declares \d+ bytes of records, but the file has \d+ bytes$/,
    spoil: declaring('UPDATE runs SET record_bytes = 16000000'),
  },
  {
    kind: 'a session of a missing event',
    reason: 'event-without-session',
    detail: /^record 9 of session_runs is a session of "evt_7", which is not an event of the organization$/,
    spoil: sealed((path) => {
      alterRuns(path, 'sessions', ({ columns }) => {
        columns['event_id'][9] = 'evt_7';
      });
    }),
  },
  {
    kind: 'the digest of other content',
    reason: 'damaged',
    detail: /^the content of organization "[\w-]+" does not match its digest/,
    spoil: declaring(`UPDATE runs SET digest = '${'A'.repeat(43)}' WHERE collection = 'tickets'`),
  },
  {
    kind: 'the digest of another manifest',
    reason: 'damaged',
    detail: /^its manifest does not match its digest/,
    spoil: unsealed(`UPDATE snapshot SET produced_at = '${producedAtOf(9999)}'`),
  },
  {
    kind: 'a changed record',
    reason: 'damaged',
    detail: /^the content of organization "[\w-]+" does not match its digest: tickets from row 0 to 59/,
    spoil: unsealed((path) => {
      alterRuns(path, 'tickets', ({ records }) => {
        records[7] = records[7].replace('"JPY"', '"EUR"');
      });
    }),
  },
  {
    kind: 'a run removed from table and manifest',
    reason: 'damaged',
    detail: /^the runs of organization "[\w-]+" do not match its digest/,
    spoil: unsealed('DELETE FROM ticket_runs', "DELETE FROM runs WHERE collection = 'tickets'"),
  },
  {
    kind: 'a repeated id',
    reason: 'duplicate-id',
    detail: /^ticket_runs holds ticketId "tkt_\d+" twice$/,
    spoil: sealed((path) => {
      alterRuns(path, 'tickets', ({ records }) => {
        records[4] = records[3];
      });
    }),
  },
  {
    kind: 'the deletion of a record that is there',
    reason: 'inconsistent',
    detail: /^the deletion of "tkt_7" of tickets is of a record that the snapshot holds$/,
    spoil: sealed(withDeletions, "UPDATE deletions SET id = 'tkt_7' WHERE id = 'gone_2'"),
  },
  {
    kind: 'a changed deletion',
    reason: 'damaged',
    detail: /^the history of organization "[\w-]+" does not match its digest/,
    spoil: unsealed(withDeletions, "UPDATE deletions SET id = 'gone_3' WHERE id = 'gone_2'"),
  },
  {
    kind: 'a changed time of a change',
    reason: 'damaged',
    detail: /^the history of organization "[\w-]+" does not match its digest: tickets from row 0/,
    spoil: unsealed("UPDATE ticket_runs SET changed_at = '[]'"),
  },
  {
    kind: 'an event without a title',
    reason: 'inconsistent',
    detail: /^record 0 of event_runs is not an event in its stored form$/,
    spoil: sealed((path) => {
      alterRuns(path, 'events', ({ records }) => {
        records[0] = records[0].replace(/"title":"[^"]*"/, '"title":null');
      });
    }),
  },
  {
    kind: 'an event without a session',
    reason: 'event-without-session',
    detail: /^record 4 of event_runs has no session$/,
    spoil: sealed((path) => {
      alterRuns(path, 'events', ({ records, columns }) => {
        records.push(records[0].replace(/"id":"[^"]*"/, '"id":"evt_none"'));
        columns['tags'].push([]);
      });
    }),
  },
  {
    kind: 'a snapshot without an organization',
    reason: 'no-organization',
    detail: /^it holds no organization$/,
    spoil: declaring('DELETE FROM organizations', 'DELETE FROM runs'),
  },
  {
    kind: 'a link to itself',
    reason: 'unreadable',
    detail: /^it cannot be read: ELOOP/,
    spoil: replaced((path, place) => {
      symlinkSync(basename(place), path);
    }),
  },
  {
    kind: 'a link through a file',
    reason: 'unreadable',
    detail: /^it cannot be read: ENOTDIR/,
    spoil: replaced((path) => {
      symlinkSync('pair.sqlite/within', path);
    }),
  },
  {
    kind: 'a link out of the folder',
    reason: 'outside-folder',
    detail: /^it is a link to .*outside\.sqlite, outside the snapshot folder; publish the file itself$/,
    spoil: replaced((path) => {
      symlinkSync('../outside.sqlite', path);
    }),
  },
  {
    kind: 'a folder',
    reason: 'not-a-file',
    detail: /^it is not a regular file$/,
    spoil: replaced((path) => {
      mkdirSync(path);
    }),
  },
  {
    kind: 'a pipe',
    reason: 'not-a-file',
    detail: /^it is not a regular file$/,
    spoil: replaced((path) => {
      execFileSync('mkfifo', [path]);
    }),
  },
  {
    kind: 'a snapshot older than the live one',
    reason: 'older',
    detail:
      /^it was produced at 2026-10-31T23:59:59.000Z, and the snapshot that it would replace for organization .* --rollback$/,
    spoil: declaring(asOf(-1)),
  },
  {
    kind: 'a snapshot with less than half of the tickets',
    reason: 'shrunk',
    detail:
      /^it has 29 tickets of .* would replace has 60; to remove the records, publish it with --allow-shrink$/,
    spoil: sealed((path) => {
      alterRuns(path, 'tickets', keepFirst(29));
    }),
  },
];
