import { writeFile } from 'node:fs/promises';
import type Database from 'better-sqlite3';
import { IMPORT_FILES, ORGANIZATIONS_FILE } from '../import/import-files.ts';
import { addCount, type LineNotes } from '../import/line-notes.ts';
import { addGroup, type FileGroup, shown } from '../import/problems.ts';
import type { Warning } from '../import/rules.ts';

/** Formats a group, such as `tickets.ndjson: orderId is missing: 20,000 lines, first: 1`. */
export function describeGroup({ file, field, reason, found, lines, first, ofBase }: FileGroup): string {
  const value = found === undefined ? '' : `, found ${found}`;
  const inFile = lines === 1 ? `line ${first}` : `${counted(lines, 'line')}, first: ${first}`;
  const where = ofBase === true ? counted(lines, 'record') : inFile;
  return `${file}: ${field || 'the line'} ${reason}${value}: ${where}`;
}

/** The import folder has misnamed entries, bad lines or no organization, and no snapshot was written. */
export class ImportRejected extends Error {
  override readonly name = 'ImportRejected';
  /** Advice for each entry of the import folder that is misnamed. */
  readonly misnamed: readonly string[];
  readonly groups: readonly FileGroup[];
  readonly total: number;
  /** Whether omitting bad lines would permit the build. */
  readonly areLinesOmissible: boolean;

  /** @param excess the rest of the message when too many lines are bad to be omitted */
  constructor(rejections: Rejections, misnamed: readonly string[], lacksOrganizations: boolean, excess = '') {
    const problems: string[] = [];
    if (misnamed.length > 0) problems.push(`${counted(misnamed.length, 'entry is', 'entries are')} misnamed`);
    if (lacksOrganizations)
      problems.push(`no organization: ${ORGANIZATIONS_FILE}.ndjson must have a line for each organization`);
    if (rejections.total > 0) problems.push(describeTotal(rejections));
    super(problems.join('; ') + excess);
    this.misnamed = misnamed;
    this.groups = rejections.groups();
    this.total = rejections.total;
    this.areLinesOmissible = misnamed.length === 0 && !lacksOrganizations;
  }
}

function describeTotal({ total, consequences, ofBase }: Rejections): string {
  const lines = ofBase < total ? [`contains ${counted(total - ofBase, 'bad line')}`] : [];
  const records = ofBase > 0 ? [`contradicts ${counted(ofBase, 'record')} of the base`] : [];
  const only = `, ${consequences.toLocaleString('en')} of them only because of others`;
  return `the import ${[...lines, ...records].join(' and ')}${consequences > 0 ? only : ''}`;
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** The notes on the lines of an import, and its rejections: in groups, and as lines in a table if they are kept. */
export class Rejections {
  total = 0;
  /** Number of good lines among them that contradict others, and of records of a base. */
  contradictions = 0;
  /** Number of lines that are bad only because of others. */
  consequences = 0;
  /** Number of records of a base among them. */
  ofBase = 0;
  readonly keepsLines: boolean;
  /** Occurrences of undeclared fields, by file and field. */
  readonly dropped = new Map<string, number>();
  readonly #groups = new Map<string, FileGroup>();
  readonly #suspects = new Map<string, FileGroup>();
  readonly #database: Database.Database;

  constructor(database: Database.Database, keepsLines: boolean) {
    database.exec(
      'CREATE TABLE rejections (file_order INTEGER, file TEXT, line INTEGER, reasons TEXT, text TEXT)',
    );
    this.#database = database;
    this.keepsLines = keepsLines;
  }

  add(file: string, notes: LineNotes): void {
    const { total, consequences, problems, lines, dropped, suspects } = notes;
    this.total += total;
    this.consequences += consequences;
    for (const group of problems.values()) addGroup(this.#groups, { file, ...group });
    for (const [field, count] of dropped) addCount(this.dropped, `${file}: ${field}`, count);
    for (const group of suspects.values()) addGroup(this.#suspects, { file, ...group });
    if (lines.length === 0) return;
    const insert = this.#database.prepare('INSERT INTO rejections VALUES (?, ?, ?, ?, ?)');
    // Without a transaction, SQLite would write a page for each line.
    this.#database.transaction(() => {
      for (const { line, problems, text } of lines) {
        const reasons = JSON.stringify(problems, ['field', 'reason', 'found']);
        insert.run(fileOrder(file), file, line, reasons, text);
      }
    })();
  }

  /**
   * Adds lines of a file, or records of a base, that have the same problem.
   * @param query selects `line`, `found`, `is_consequence` and `text`. Lines that are rejected already have no text
   */
  addSelected(problem: Pick<FileGroup, 'file' | 'field' | 'reason' | 'ofBase'>, query: string): void {
    const { file, field, reason, ofBase } = problem;
    // SQLite takes a column outside of an aggregate from the row with the minimum.
    const [[rows, added, consequences, first, found]] = this.#database
      .prepare<[], [rows: number, added: number, consequences: number, first: number, found: string]>(
        `SELECT count(*), count(text), total(is_consequence), min(iif(is_consequence, NULL, line)), found FROM (${query})`,
      )
      .raw()
      .all();
    this.total += added;
    this.contradictions += added;
    this.consequences += consequences;
    if (ofBase === true) this.ofBase += added;
    const lines = rows - consequences;
    if (lines > 0) addGroup(this.#groups, { ...problem, lines, first, found: shown(found) });
    if (!this.keepsLines) return;
    this.#database
      .prepare(
        `INSERT INTO rejections
         SELECT ?, ?, line, json_array(json_object('field', ?, 'reason', ?, 'found', found)), text FROM (${query})`,
      )
      .run(fileOrder(file), file, field, reason);
  }

  get warnings(): Warning[] {
    return Array.from(this.#suspects.values(), ({ file, reason, lines, first }) => {
      return { source: file, problem: reason, count: lines, first: `line ${first}` };
    });
  }

  groups(): FileGroup[] {
    return [...this.#groups.values()].sort((a, b) => {
      if (a.file === b.file) return a.first - b.first;
      return fileOrder(a.file) - fileOrder(b.file) || (a.file < b.file ? -1 : 1);
    });
  }

  /** Writes all rejections to a file as lines of JSON, ordered by file and line. */
  async write(path: string): Promise<void> {
    // The reasons of a line may be in several rows, one of which has the text.
    const rows = this.#database
      .prepare<[], [file: string, line: number, reasons: string, text: string | null]>(
        `SELECT file, line, group_concat(substr(reasons, 2, length(reasons) - 2)), max(text)
         FROM rejections GROUP BY file_order, file, line ORDER BY file_order, line`,
      )
      .raw();
    const lines = Iterator.from(rows.iterate()).map(([file, line, reasons, text]) => {
      const parsed = JSON.parse(`[${reasons}]`) as unknown;
      return `${JSON.stringify({ file, line, reasons: parsed, text: text ?? undefined })}\n`;
    });
    await writeFile(path, lines);
  }
}

function fileOrder(file: string): number {
  return IMPORT_FILES.findIndex((name) => file.startsWith(`${name}.`));
}
