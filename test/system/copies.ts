import Database from 'better-sqlite3';
import type { ImportRecord } from '../support/import-folder.ts';

/** A program that keeps a copy. */
export interface SyncProgram {
  readonly command: string;
  /** Path in `examples`. */
  readonly file: string;
  /** Random snapshots that the program follows in a short test. */
  readonly steps?: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** Standard error of a round that gets 403. */
  readonly refused: RegExp;
  /** Moments at which the program is killed, and the line of its log, on standard error, that announces each. */
  readonly moments?: Readonly<Record<string, RegExp>>;
  /** Reads the copy in a database. */
  readonly read: (database: string) => Copied;
  /** Returns what a copy has of a record; by default, all of it. */
  readonly copied?: (record: ImportRecord) => ImportRecord;
}

/** A copy, and the time of its data. */
export interface Copied {
  readonly time: string;
  readonly rows: readonly CopiedRow[];
}

export interface CopiedRow {
  readonly collection: string;
  readonly id: string;
  /** Of sessions, whose bodies lack it. */
  readonly event_id: string | null;
  /** JSON. */
  readonly body: string;
}

/** Returns the reader of a copy in SQLite. */
export function sqliteReader(selectTime: string): SyncProgram['read'] {
  return (path) => {
    const database = new Database(path, { readonly: true });
    const rows = database.prepare<[], CopiedRow>('SELECT * FROM records').all();
    const time = database.prepare<[], string>(selectTime).pluck().get() ?? '';
    database.close();
    return { time, rows };
  };
}
