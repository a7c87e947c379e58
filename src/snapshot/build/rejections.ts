import { writeFile } from 'node:fs/promises';
import type Database from 'better-sqlite3';
import type { CollectionName } from '../../contract/operations.ts';
import { IMPORT_FILES } from './import-files.ts';
import type { FieldProblem } from './import-schema.ts';

/** A line of the import that cannot become a record. */
export interface Rejection extends FieldProblem {
  /** Name of the file in the import folder. */
  readonly file: string;
  readonly line: number;
}

/** `tickets.ndjson:17: issuedAt must be …` */
export function describeRejection({ file, line, field, reason }: Rejection): string {
  return `${file}:${line}: ${field === '' ? reason : `${field} ${reason}`}`;
}

export interface BuildReport {
  readonly snapshotId: string;
  readonly producedAt: string;
  readonly organizations: number;
  readonly records: Readonly<Record<CollectionName, number>>;
  /** How often fields were dropped that the specification does not have, by file and field. */
  readonly dropped: ReadonlyMap<string, number>;
  /** Lines left out; always 0 unless bad lines are skipped. */
  readonly rejected: number;
  readonly fileBytes: number;
}

/** The import holds bad lines, and no snapshot was made of it. */
export class ImportRejected extends Error {
  override readonly name = 'ImportRejected';
  readonly first: readonly Rejection[];
  readonly total: number;

  constructor(first: readonly Rejection[], total: number) {
    super(`the import holds ${total} bad ${total === 1 ? 'line' : 'lines'}`);
    this.first = first;
    this.total = total;
  }
}

/** Bad lines that are shown. */
const SHOWN = 20;
const ORDER = 'ORDER BY file_order, line';

/** The bad lines of an import, in a table of the staging file. */
export class Rejections {
  /** How many there are. */
  total = 0;
  readonly #database: Database.Database;
  readonly #keepsText: boolean;
  readonly #insert: Database.Statement;

  /** @param keepsText whether the text of the lines is wanted */
  constructor(database: Database.Database, keepsText: boolean) {
    database.exec(
      'CREATE TABLE rejections (file_order INTEGER, file TEXT, line INTEGER, field TEXT, reason TEXT, text TEXT)',
    );
    this.#database = database;
    this.#keepsText = keepsText;
    this.#insert = database.prepare('INSERT INTO rejections VALUES (?, ?, ?, ?, ?, ?)');
  }

  /** @param text the line as it is in the file; undefined when it is no text */
  add({ file, line, field, reason }: Rejection, text: string | undefined): void {
    this.total++;
    this.#insert.run(fileOrder(file), file, line, field, reason, this.#keepsText ? text : undefined);
  }

  /** Adds lines of a file that a query selects as `line`, `reason` and `text`. */
  addSelected(file: string, field: string, query: string): void {
    const { changes } = this.#database
      .prepare(
        `INSERT INTO rejections SELECT ?, ?, line, ?, reason, CASE WHEN ? THEN text END FROM (${query})`,
      )
      .run(fileOrder(file), file, field, this.#keepsText ? 1 : 0);
    this.total += changes;
  }

  /** Returns the first bad lines, by file and line. */
  first(): Rejection[] {
    return this.#database
      .prepare<[], Rejection>(`SELECT file, line, field, reason FROM rejections ${ORDER} LIMIT ${SHOWN}`)
      .all();
  }

  /** Writes all bad lines to a file, each as a line of JSON, by file and line. */
  async write(path: string): Promise<void> {
    const rows = this.#database.prepare<[], Rejection & { readonly text: string | null }>(
      `SELECT file, line, field, reason, text FROM rejections ${ORDER}`,
    );
    await writeFile(path, jsonLines(rows.iterate()));
  }
}

function fileOrder(file: string): number {
  return IMPORT_FILES.findIndex((name) => file.startsWith(`${name}.`));
}

function* jsonLines(rows: Iterable<Rejection & { readonly text: string | null }>): Generator<string> {
  for (const { text, ...rejection } of rows)
    yield `${JSON.stringify({ ...rejection, text: text ?? undefined })}\n`;
}
