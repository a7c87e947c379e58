import type Database from 'better-sqlite3';
import { parseObject, textIn } from '../../format/json-values.ts';
import { IMPORT_FILES, type ImportFolder, ORGANIZATIONS_FILE } from '../import/import-files.ts';
import { addCount, type LineNotes } from '../import/line-notes.ts';
import { type FieldProblem, inAnyPosition, type ProblemGroup, shown } from '../import/problems.ts';
import type { Warning } from '../import/rules.ts';

/** An organization of which the import is not used, so that it stays as it was. */
export interface HeldBack extends Partial<Pick<ProblemGroup, 'file' | 'field' | 'found'>> {
  readonly organizationId: string;
  /** Such as `events.ndjson:12: eventTimezone must be …, found "Berlin" (3 lines)`. */
  readonly reason: string;
  /** The line of its first problem; undefined for a loss, and for a record of a base. */
  readonly line?: number | undefined;
  /** Number of its bad lines. */
  readonly lines?: number;
}

/** Formats a group, such as `tickets.ndjson: orderId is missing: 20,000 lines, first: 1`. */
export function describeGroup(group: ProblemGroup): string {
  const { file, lines, first, ofBase } = group;
  const inFile = lines === 1 ? `line ${first}` : `${counted(lines, 'line')}, first: ${first}`;
  return `${file}: ${sentence(group)}: ${ofBase === true ? counted(lines, 'record') : inFile}`;
}

function sentence({ field, reason, found }: FieldProblem): string {
  return `${field || 'the line'} ${reason}${found === undefined ? '' : `, found ${found}`}`;
}

/** The import folder has misnamed entries, bad lines or no organization, and no snapshot was written. */
export class ImportRejected extends Error {
  override readonly name = 'ImportRejected';
  /** Advice for each entry of the import folder that is misnamed. */
  readonly misnamed: readonly string[];
  readonly groups: readonly ProblemGroup[];
  readonly total: number;

  constructor(rejections: Rejections, { misnamed }: ImportFolder, lacksOrganizations: boolean) {
    const problems: string[] = [];
    if (misnamed.length > 0) problems.push(`${counted(misnamed.length, 'entry is', 'entries are')} misnamed`);
    if (lacksOrganizations)
      problems.push(`no organization: ${ORGANIZATIONS_FILE}.ndjson must have a line for each organization`);
    const counts = rejections.counts();
    if (counts.total > 0) problems.push(describeTotal(counts));
    super(problems.join('; '));
    this.misnamed = misnamed;
    this.groups = rejections.groups();
    this.total = counts.total;
  }
}

interface GroupRow extends Omit<ProblemGroup, 'found' | 'ofBase'> {
  readonly found: string | null;
  readonly isOfBase: 0 | 1;
}

interface FirstRow extends Record<'organizationId' | 'file' | 'problem', string> {
  readonly line: number | null;
  readonly lines: number;
}

type Counts = Readonly<Record<'total' | 'ofBase' | 'consequences', number>>;

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
 *     rejections    list, origin, line → file, reasons, organization_id, text
 */
export class Rejections {
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
        list TEXT, origin TEXT, line INTEGER, file TEXT, reasons TEXT, organization_id TEXT, text TEXT,
        PRIMARY KEY (list, origin, line)
      ) STRICT, WITHOUT ROWID`);
    this.#database = database;
    this.#insertBad = database.prepare(
      "INSERT INTO rejections VALUES (?, 'bad', ?, ?, ?, text_in(?, 'organizationId'), ?)",
    );
  }

  /** @param list name of the file without ending, which a misnamed file lacks */
  add(list: string, file: string, { bad, dropped, suspects }: LineNotes): void {
    for (const { line, problems, text } of bad)
      this.#insertBad.run(list, line, file, JSON.stringify(problems), text, text);
    for (const [field, count] of dropped) addCount(this.dropped, `${file}: ${field}`, count);
    for (const [problem, { count, first }] of suspects) {
      const key = `${file} ${problem}`;
      const known = this.suspects.get(key) ?? { source: file, problem, count: 0, first: `line ${first}` };
      this.suspects.set(key, { ...known, count: known.count + count });
    }
  }

  /** Returns the organizations of the bad lines so far, with the empty text for an unknown one. */
  organizations(): Set<string> {
    const ids = this.#database.prepare<[], string>('SELECT DISTINCT organization_id FROM rejections');
    return new Set(ids.pluck().iterate());
  }

  /** Returns the number of all, and of those of a base, and only because of others. */
  counts(): Counts {
    const [counts] = this.#database
      .prepare<[], Counts>(
        `SELECT count(*) AS total, total(origin = 'base') AS ofBase,
           total(reasons ->> '$[0].isConsequence') AS consequences
         FROM rejections`,
      )
      .all();
    return counts;
  }

  /** Returns the organizations with rejections, each with the first one. */
  heldBack(): HeldBack[] {
    const firsts = this.#database.prepare<[], FirstRow>(
      `SELECT organization_id AS organizationId, file, iif(origin = 'base', NULL, line) AS line, reasons -> '$[0]' AS problem,
         count(*) AS lines,
         min(format('%d %2d %20d', reasons ->> '$[0].isConsequence' IS TRUE, file_order(file), line)) AS first
       FROM rejections GROUP BY organization_id`,
    );
    return Array.from(firsts.iterate(), ({ organizationId, file, line, problem, lines }) => {
      const { field, reason, found } = JSON.parse(problem) as FieldProblem;
      const rest = { line: line ?? undefined, field, found: found && shown(found), lines };
      const text = `${line === null ? file : `${file}:${line}`}: ${sentence({ ...rest, reason })}`;
      const count = lines === 1 ? '' : ` (${counted(lines, 'line')})`;
      return { organizationId, reason: text + count, file, ...rest };
    });
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
}

function fileOrder(file: string): number {
  return IMPORT_FILES.findIndex((name) => file.startsWith(`${name}.`));
}
