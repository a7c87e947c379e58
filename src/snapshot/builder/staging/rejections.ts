import { writeFile } from 'node:fs/promises';
import type Database from 'better-sqlite3';
import { IMPORT_FILES, ORGANIZATIONS_FILE } from '../import/import-files.ts';
import {
  addGroup,
  type BadLines,
  describeProblem,
  type FieldProblem,
  type ProblemGroup,
  shown,
} from '../import/problems.ts';

/** A group of bad lines of an import file, or of bad records of a base. */
export interface FileGroup extends ProblemGroup {
  /** Name of the import file; path of the base. */
  readonly file: string;
}

/** Formats a group, such as `tickets.ndjson: orderId is missing: 20,000 lines, first: 1`. */
export function describeGroup({ file, lines, first, ...problem }: FileGroup): string {
  const where =
    first < 0
      ? `${lines.toLocaleString('en')} ${lines === 1 ? 'record' : 'records'}`
      : lines === 1
        ? `line ${first}`
        : `${lines.toLocaleString('en')} lines, first: ${first}`;
  return `${file}: ${describeProblem(problem)}: ${where}`;
}

/** The problems of an import folder beside its lines. */
export interface FolderProblems {
  /** Advice for each entry that is misnamed. */
  readonly misnamed: readonly string[];
  readonly lacksOrganizations: boolean;
}

/** The import folder has misnamed entries, bad lines or no organization, and no snapshot was written. */
export class ImportRejected extends Error {
  override readonly name = 'ImportRejected';
  /** Advice for each entry of the import folder that is misnamed. */
  readonly misnamed: readonly string[];
  /** By file and first line. */
  readonly groups: readonly FileGroup[];
  readonly total: number;
  /** Whether omitting bad lines would permit the build. */
  readonly areLinesOmissible: boolean;

  /** @param limit the number of bad lines that may be omitted, of a number of lines read */
  constructor(
    rejections: Rejections,
    { misnamed, lacksOrganizations }: FolderProblems,
    limit?: { readonly limit: number; readonly read: number },
  ) {
    const { total, following, ofBase } = rejections;
    const problems: string[] = [];
    if (misnamed.length > 0)
      problems.push(
        misnamed.length === 1 ? '1 entry is misnamed' : `${misnamed.length} entries are misnamed`,
      );
    if (lacksOrganizations)
      problems.push(`no organization: ${ORGANIZATIONS_FILE}.ndjson must have a line for each organization`);
    if (total > 0) {
      const lines = ofBase < total ? [`contains ${counted(total - ofBase, 'bad line')}`] : [];
      const records = ofBase > 0 ? [`contradicts ${counted(ofBase, 'record')} of the base`] : [];
      problems.push(
        `the import ${[...lines, ...records].join(' and ')}` +
          (following > 0 ? `, ${following.toLocaleString('en')} of them only because of others` : '') +
          (limit
            ? `, of ${limit.read.toLocaleString('en')} read; at most ${limit.limit.toLocaleString('en')} may be omitted`
            : ''),
      );
    }
    super(problems.join('; '));
    this.misnamed = misnamed;
    this.groups = rejections.groups();
    this.total = total;
    this.areLinesOmissible = misnamed.length === 0 && !lacksOrganizations;
  }
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** The rejections of an import: in groups, and as lines in a table of the staging file if they are kept. */
export class Rejections {
  total = 0;
  /** Number of lines that are bad only because of others. */
  following = 0;
  /** Number of records of a base among them, which the import contradicts. */
  ofBase = 0;
  readonly keepsLines: boolean;
  readonly #groups = new Map<string, Map<string, ProblemGroup>>();
  readonly #database: Database.Database;
  readonly #insert: Database.Statement;

  constructor(database: Database.Database, keepsLines: boolean) {
    database.exec(
      'CREATE TABLE rejections (file_order INTEGER, file TEXT, line INTEGER, reasons TEXT, text TEXT)',
    );
    this.#database = database;
    this.keepsLines = keepsLines;
    this.#insert = database.prepare('INSERT INTO rejections VALUES (?, ?, ?, ?, ?)');
  }

  /** Adds the bad lines of a file. */
  add(file: string, { total, following, groups, lines }: BadLines): void {
    this.total += total;
    this.following += following;
    for (const group of groups.values()) this.#addGroup(file, group);
    // Without a transaction, SQLite would write a page for each line.
    this.#database.transaction(() => {
      for (const { line, problems, text } of lines)
        this.#insert.run(
          fileOrder(file),
          file,
          line,
          JSON.stringify(problems, ['field', 'reason', 'found']),
          text,
        );
    })();
  }

  /**
   * Adds the lines of a file that a query selects as `line`, `found`, `follows` and `text`, all with one problem.
   * Returns their number.
   */
  addSelected(file: string, problem: FieldProblem, query: string): number {
    const [total, following] = this.#database
      .prepare<[], [total: number, following: number]>(
        `SELECT count(*) AS total, ifnull(sum(follows), 0) AS following FROM (${query})`,
      )
      .raw()
      .all()[0];
    this.total += total;
    this.following += following;
    this.#addProblem(file, problem, `SELECT line, found FROM (${query}) WHERE NOT follows`);
    this.#storeSelected(file, problem, query);
    return total;
  }

  /** Adds a problem to lines that are rejected already, which a query selects as `line` and `found`. */
  addToBad(file: string, problem: FieldProblem, query: string): void {
    this.#addProblem(file, problem, query);
    this.#storeSelected(file, problem, `SELECT line, found, NULL AS text FROM (${query})`);
  }

  #addProblem(file: string, { field, reason }: FieldProblem, query: string): void {
    // SQLite takes a column outside of an aggregate from the row with the minimum.
    const group = this.#database
      .prepare<[], { lines: number; first: number; found: string }>(
        `SELECT count(*) AS lines, min(line) AS first, found FROM (${query}) HAVING count(*) > 0`,
      )
      .get();
    if (group) this.#addGroup(file, { ...group, field, reason, found: shown(group.found) });
  }

  #storeSelected(file: string, { field, reason }: FieldProblem, query: string): void {
    if (!this.keepsLines) return;
    this.#database
      .prepare(
        `INSERT INTO rejections
         SELECT ?, ?, line, json_array(json_object('field', ?, 'reason', ?, 'found', found)), text FROM (${query})`,
      )
      .run(fileOrder(file), file, field, reason);
  }

  /** Returns the groups, by file and first line. */
  groups(): FileGroup[] {
    return [...this.#groups]
      .flatMap(([file, groups]) => [...groups.values()].map((group) => ({ file, ...group })))
      .sort((a, b) => fileOrder(a.file) - fileOrder(b.file) || compare(a.file, b.file) || a.first - b.first);
  }

  #addGroup(file: string, group: ProblemGroup): void {
    let groups = this.#groups.get(file);
    if (groups === undefined) this.#groups.set(file, (groups = new Map<string, ProblemGroup>()));
    addGroup(groups, group);
  }

  /** Writes all rejections to a file as lines of JSON, ordered by file and line. */
  async write(path: string): Promise<void> {
    const rows = this.#database.prepare<
      [],
      { file: string; line: number; reasons: string; text: string | null }
    >( // The reasons of a line may be in several rows, one of which has the text.
      `SELECT file, line, '[' || group_concat(substr(reasons, 2, length(reasons) - 2)) || ']' AS reasons, max(text) AS text
       FROM rejections GROUP BY file_order, file, line ORDER BY file_order, line`,
    );
    const lines = Iterator.from(rows.iterate()).map(
      ({ file, line, reasons, text }) =>
        `${JSON.stringify({ file, line, reasons: JSON.parse(reasons) as unknown, text: text ?? undefined })}\n`,
    );
    await writeFile(path, lines);
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function fileOrder(file: string): number {
  return IMPORT_FILES.findIndex((name) => file.startsWith(`${name}.`));
}
