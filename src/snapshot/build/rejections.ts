import { writeFile } from 'node:fs/promises';
import type Database from 'better-sqlite3';
import { IMPORT_FILES } from './import-files.ts';
import type { FieldProblem } from './import-schema.ts';

/** The rejection of an import line. */
export interface Rejection extends FieldProblem {
  /** Name of the file in the import folder. */
  readonly file: string;
  readonly line: number;
}

/** Formats a rejection, such as `tickets.ndjson:17: issuedAt must be …`. */
export function describeRejection({ file, line, field, reason }: Rejection): string {
  return `${file}:${line}: ${field === '' ? reason : `${field} ${reason}`}`;
}

/** The import contains bad lines, and no snapshot was written. */
export class ImportRejected extends Error {
  override readonly name = 'ImportRejected';
  /** The first rejections, by file and line. */
  readonly first: readonly Rejection[];
  readonly total: number;

  constructor(first: readonly Rejection[], total: number) {
    super(`the import contains ${total} bad ${total === 1 ? 'line' : 'lines'}`);
    this.first = first;
    this.total = total;
  }
}

const MAX_SHOWN = 20;
const ORDER = 'ORDER BY file_order, line';

/** The rejections of an import, in a table of the staging file. */
export class Rejections {
  total = 0;
  readonly #database: Database.Database;
  readonly #keepsText: boolean;
  readonly #insert: Database.Statement;

  /** @param keepsText whether the text of the lines is stored */
  constructor(database: Database.Database, keepsText: boolean) {
    database.exec(
      'CREATE TABLE rejections (file_order INTEGER, file TEXT, line INTEGER, field TEXT, reason TEXT, text TEXT)',
    );
    this.#database = database;
    this.#keepsText = keepsText;
    this.#insert = database.prepare('INSERT INTO rejections VALUES (?, ?, ?, ?, ?, ?)');
  }

  /** Adds a rejection. `text` is the line as it is in the file; undefined when it cannot be decoded. */
  add({ file, line, field, reason }: Rejection, text: string | undefined): void {
    this.total++;
    this.#insert.run(fileOrder(file), file, line, field, reason, this.#keepsText ? text : undefined);
  }

  /** Adds the lines of a file that a query selects as `line`, `reason` and `text`. */
  addSelected(file: string, field: string, query: string): void {
    const { changes } = this.#database
      .prepare(
        `INSERT INTO rejections SELECT ?, ?, line, ?, reason, CASE WHEN ? THEN text END FROM (${query})`,
      )
      .run(fileOrder(file), file, field, this.#keepsText ? 1 : 0);
    this.total += changes;
  }

  /** Returns the first rejections, by file and line. */
  first(): Rejection[] {
    return this.#database
      .prepare<[], Rejection>(`SELECT file, line, field, reason FROM rejections ${ORDER} LIMIT ${MAX_SHOWN}`)
      .all();
  }

  /** Writes all rejections to a file as lines of JSON, ordered by file and line. */
  async write(path: string): Promise<void> {
    const rows = this.#database.prepare<[], Rejection & { readonly text: string | null }>(
      `SELECT file, line, field, reason, text FROM rejections ${ORDER}`,
    );
    const lines = Iterator.from(rows.iterate()).map(
      ({ text, ...rejection }) => `${JSON.stringify({ ...rejection, text: text ?? undefined })}\n`,
    );
    await writeFile(path, lines);
  }
}

function fileOrder(file: string): number {
  return IMPORT_FILES.findIndex((name) => file.startsWith(`${name}.`));
}
