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
