import { writeFile } from 'node:fs/promises';
import type Database from 'better-sqlite3';
import { parseObject, textIn } from '../../format/json-values.ts';
import { IMPORT_FILES, type ImportFolder, ORGANIZATIONS_FILE } from '../import/import-files.ts';
import { addCount, type LineNotes } from '../import/line-notes.ts';
import { inAnyPosition, type ProblemGroup, shown } from '../import/problems.ts';
import type { Warning } from '../import/rules.ts';

/** Formats a group, such as `tickets.ndjson: orderId is missing: 20,000 lines, first: 1`. */
export function describeGroup({ file, field, reason, found, lines, first, ofBase }: ProblemGroup): string {
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
  readonly groups: readonly ProblemGroup[];
  readonly total: number;
  /** Whether omitting bad lines would permit the build. */
  readonly areLinesOmissible: boolean;

  /** @param excess the rest of the message when too many lines are bad to be omitted */
  constructor(
    rejections: Rejections,
    { misnamed }: ImportFolder,
    lacksOrganizations: boolean,
    excess: string,
  ) {
    const problems: string[] = [];
    if (misnamed.length > 0) problems.push(`${counted(misnamed.length, 'entry is', 'entries are')} misnamed`);
    if (lacksOrganizations)
      problems.push(`no organization: ${ORGANIZATIONS_FILE}.ndjson must have a line for each organization`);
    const counts = rejections.counts();
    if (counts.total > 0) problems.push(describeTotal(counts));
    super(problems.join('; ') + excess);
    this.misnamed = misnamed;
    this.groups = rejections.groups();
    this.total = counts.total;
    this.areLinesOmissible = misnamed.length === 0 && !lacksOrganizations;
  }
}

interface GroupRow extends Omit<ProblemGroup, 'found' | 'ofBase'> {
  readonly found: string | null;
  readonly isOfBase: 0 | 1;
}

type Counts = Readonly<Record<'total' | 'contradictions' | 'ofBase' | 'consequences', number>>;

function describeTotal({ total, consequences, ofBase }: Counts): string {
  const lines = ofBase < total ? [`contains ${counted(total - ofBase, 'bad line')}`] : [];
  const records = ofBase > 0 ? [`contradicts ${counted(ofBase, 'record')} of the base`] : [];
  const only = `, ${consequences.toLocaleString('en')} of them only because of others`;
  return `the import ${[...lines, ...records].join(' and ')}${consequences > 0 ? only : ''}`;
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/**
 * The notes on the lines of an import, and its rejections: bad lines, and lines and records of a base that contradict
 * others.
 *
 *     rejections    list, origin, line → file, reasons, text
 */
export class Rejections {
  /** Number of lines that were read. */
  lines = 0;
  /** Occurrences of undeclared fields, by file and field. */
  readonly dropped = new Map<string, number>();
  /** Warnings about lines that were accepted, by file and problem. */
  readonly suspects = new Map<string, Warning>();
  readonly #database: Database.Database;
  readonly #insertBad: Database.Statement;

  /** Also defines SQL functions, such as `text_in`: a text of a JSON object, or the empty text when absent. */
  constructor(database: Database.Database) {
    database.function('file_order', fileOrder);
    database.function('in_any_position', inAnyPosition);
    database.function('text_in', (json: string | null, field: string) =>
      textIn(parseObject(json ?? '')?.[field]),
    );
    database.exec(`
      CREATE TABLE rejections (
        list TEXT, origin TEXT, line INTEGER, file TEXT, reasons TEXT, text TEXT,
        PRIMARY KEY (list, origin, line)
      ) STRICT, WITHOUT ROWID`);
    this.#database = database;
    this.#insertBad = database.prepare(`INSERT INTO rejections VALUES (?, 'bad', ?, ?, ?, ?)`);
  }

  /** @param list name of the file without ending, which a misnamed file lacks */
  add(list: string, file: string, { lines, bad, dropped, suspects }: LineNotes): void {
    this.lines += lines;
    for (const { line, problems, text } of bad)
      this.#insertBad.run(list, line, file, JSON.stringify(problems), text);
    for (const [field, count] of dropped) addCount(this.dropped, `${file}: ${field}`, count);
    for (const [problem, { count, first }] of suspects) {
      const key = `${file} ${problem}`;
      const known = this.suspects.get(key) ?? { source: file, problem, count: 0, first: `line ${first}` };
      this.suspects.set(key, { ...known, count: known.count + count });
    }
  }

  /** Returns the organizations of the bad lines so far, with the empty text for an unknown one. */
  organizations(): Set<string> {
    const ids = this.#database.prepare<[], string>(`SELECT text_in(text, 'organizationId') FROM rejections`);
    return new Set(ids.pluck().iterate());
  }

  /** Returns the number of all, and of those that contradict others, of a base, and only because of others. */
  counts(): Counts {
    const [counts] = this.#database
      .prepare<[], Counts>(
        `SELECT count(*) AS total, total(origin <> 'bad') AS contradictions, total(origin = 'base') AS ofBase,
           total(reasons ->> '$[0].isConsequence') AS consequences
         FROM rejections`,
      )
      .all();
    return counts;
  }

  groups(): ProblemGroup[] {
    // SQLite takes a column outside of an aggregate from the row with the minimum.
    const groups = this.#database.prepare<[], GroupRow>(
      `SELECT file, in_any_position(value ->> 'field') AS field, value ->> 'reason' AS reason, value ->> 'found' AS found,
         count(*) AS lines, min(line) AS first, origin = 'base' AS isOfBase
       FROM rejections, json_each(reasons) WHERE value ->> 'isConsequence' IS NOT TRUE
       GROUP BY file, field, reason ORDER BY file_order(file), file, first, key`,
    );
    return Array.from(groups.iterate(), ({ found, isOfBase, ...group }) => {
      return {
        ...group,
        found: found === null ? undefined : shown(found),
        ofBase: isOfBase === 1 || undefined,
      };
    });
  }

  /** Writes all rejections to a file as lines of JSON, ordered by file and line. */
  async write(path: string): Promise<void> {
    const rows = this.#database
      .prepare<[], [file: string, line: number, reasons: string, text: string | null]>(
        'SELECT file, line, reasons, text FROM rejections ORDER BY file_order(file), line',
      )
      .raw();
    const lines = Iterator.from(rows.iterate()).map(([file, line, reasons, text]) => {
      const rejection = { file, line, reasons: JSON.parse(reasons) as unknown, text: text ?? undefined };
      return `${JSON.stringify(rejection, ['file', 'line', 'reasons', 'field', 'reason', 'found', 'text'])}\n`;
    });
    await writeFile(path, lines);
  }
}

function fileOrder(file: string): number {
  return IMPORT_FILES.findIndex((name) => file.startsWith(`${name}.`));
}
