import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';

/** What makes a file a keys file of this version: all of it is read from `data/keys.sql`. */

const reference = new Database(':memory:');
reference.exec(readFileSync(new URL('../../data/keys.sql', import.meta.url), 'utf8'));

export const APPLICATION_ID = integerPragma(reference, 'application_id');
export const FORMAT_VERSION = integerPragma(reference, 'user_version');
export const SCHEMA = schemaOf(reference);
/** A keys file without a key, byte by byte. */
export const EMPTY_KEYS_FILE = reference.serialize();

reference.close();

export function integerPragma(database: Database.Database, name: string): number {
  return Number(database.pragma(name, { simple: true }));
}

/** The statements that made a database, as one text, but for comments and white space: their words may change. */
export function schemaOf(database: Database.Database): string {
  return database
    .prepare<[], string>('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name')
    .pluck()
    .all()
    .join(';\n')
    .replace(/--.*$/gm, '')
    .replace(/\s+/g, ' ');
}
