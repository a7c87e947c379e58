import type Database from 'better-sqlite3';
import { IANAZone } from 'luxon';
import { SESSIONS } from '../../format/layout.ts';
import type { ImportFolder } from '../import/import-files.ts';
import type { LineNotes } from '../import/line-notes.ts';
import { isOfPricing, ruleProblem, type Rule, RULES, type Warning } from '../import/rules.ts';
import { eventOf, selectAll } from './staging-file.ts';

/** Characters of distinct values and ids from which on they are written. Most values repeat those of nearby records. */
const MAX_CHARACTERS = 400_000;

/** A value with the number of records that have it, and the first and the last of them. */
interface Mention {
  readonly rule: number;
  readonly organization: number;
  readonly value: string | number;
  readonly place: number;
  readonly id: string;
  records: number;
  last: number;
}

/** The values of records for which the contract declares rules, in a table for each rule. */
export class Mentions {
  readonly #inserts: readonly Database.Statement<[number, string, number, number, string]>[];
  /** By rule and organization, then by value. */
  readonly #counted = new Map<number, Map<string | number, Mention>>();
  #characters = 0;

  constructor(database: Database.Database) {
    this.#inserts = RULES.map((_, rule) => {
      database.exec(`
        CREATE TABLE mentions_${rule} (
          organization INTEGER, value TEXT, records INTEGER, place INTEGER, id TEXT
        ) STRICT`);
      return database.prepare(`INSERT INTO mentions_${rule} VALUES (?, ?, ?, ?, ?)`);
    });
  }

  /**
   * Adds the values of a record.
   * @param place its line, or its row
   */
  add(organization: number, place: number, id: string, mentions: LineNotes['mentions']): void {
    for (const { rule, value } of mentions) {
      const key = organization * RULES.length + rule;
      let values = this.#counted.get(key);
      if (values === undefined) this.#counted.set(key, (values = new Map<string | number, Mention>()));
      let mention = values.get(value);
      if (mention === undefined) {
        mention = { rule, organization, value, place, id, records: 0, last: -1 };
        values.set(value, mention);
        this.#characters += String(value).length + id.length;
      }
      if (mention.last === place) continue;
      mention.records++;
      mention.last = place;
    }
    if (this.#characters > MAX_CHARACTERS) this.write();
  }

  /** Writes the mentions so far. */
  write(): void {
    for (const values of this.#counted.values()) {
      for (const { rule, organization, value, records, place, id } of values.values()) {
        const json = isOfPricing(RULES[rule]) ? String(value) : JSON.stringify(value);
        this.#inserts[rule].run(organization, json, records, place, id);
      }
    }
    this.#counted.clear();
    this.#characters = 0;
  }
}

/**
 * Derives the warnings from the mentions and from the table of all ids.
 * @param files schema names of the databases with mentions
 * @param qrCodes SQL that selects `organization`, `value`, `place` and `id` (a sort key) of all QR codes
 * @param isChecked chooses the rules
 */
export function warningsOf(
  database: Database.Database,
  files: readonly string[],
  organizationIds: readonly string[],
  qrCodes: string,
  isChecked: (rule: Rule) => boolean = () => true,
): Warning[] {
  const mentionsOf = (rule: number) => selectAll(files, `mentions_${rule}`);
  const pricings = mentionsOf(RULES.findIndex(({ expected }) => expected.kind === 'identifies'));
  return RULES.flatMap((rule, number): Warning[] => {
    if (!isChecked(rule)) return [];
    const isUnique = rule.expected.kind === 'unique';
    // Sorts less than the search for the first record.
    const repeated = `SELECT 1 FROM (${qrCodes}) GROUP BY organization, value HAVING count(*) > 1`;
    if (isUnique && database.prepare(repeated).get() === undefined) return [];
    const values = isUnique ? qrCodes : mentionsOf(number);
    const broken = database
      .prepare<[], [organization: number, value: string, id: string, first: number, count: number]>(
        `SELECT organization, value, id, min(place), sum(records)
         FROM (${selectBroken(rule, values, pricings)}) HAVING count(*) > 0`,
      )
      .raw()
      .get();
    if (broken === undefined) return [];
    const [organization, value, id, , count] = broken;
    const first = `${id} (${value}) of ${organizationIds[organization]}`;
    return [{ source: rule.collection, problem: `${rule.field} ${ruleProblem(rule)}`, count, first }];
  });
}

/** Returns SQL that selects the mentions that break a rule. */
function selectBroken({ expected }: Rule, mentions: string, pricings: string): string {
  if (expected.kind === 'identifies') return `${mentions} LIMIT 0`;
  if (expected.kind === 'unique') {
    return `
      SELECT organization, value, 1 AS records, place, id_of(id) AS id FROM (
        SELECT *, row_number() OVER (PARTITION BY organization, value ORDER BY place) AS number FROM (${mentions})
      ) WHERE number > 1`;
  }
  if (expected.kind !== 'names') return mentions;
  if (expected.referent === 'pricings') {
    return `
      SELECT * FROM (${mentions})
      WHERE (organization, value) NOT IN (SELECT organization, value FROM (${pricings}))`;
  }
  return `
    SELECT * FROM (${mentions}) AS mention
    WHERE NOT EXISTS (
      SELECT 1 FROM ids WHERE collection = '${expected.referent}' AND ids.organization = mention.organization
        AND ids.id = sort_key(value ->> '$')
    )`;
}

/**
 * Warns of imported sessions whose start is in UTC, and the zone of their event is not: readers see the time as written.
 * An organization is no case if a start of it has another offset.
 */
export function warningsOfUtc(database: Database.Database, { files }: ImportFolder): Warning[] {
  const inUtc = database.prepare<
    [],
    { readonly line: number; readonly start: string; readonly zone: string }
  >(
    `WITH session AS MATERIALIZED (
       SELECT organization, ${eventOf(SESSIONS)} AS event, line, record ->> 'startAt' AS start
       FROM all_sessions WHERE origin = 'import'
     ), event_zone AS MATERIALIZED (
       SELECT organization, id AS event, record ->> 'eventTimezone' AS zone FROM all_events
     )
     SELECT line, start, zone FROM session CROSS JOIN event_zone USING (organization, event)
     WHERE organization NOT IN (SELECT organization FROM session WHERE start NOT LIKE '%_00:00')
     ORDER BY line`,
  );
  const source = files.get(SESSIONS.name) ?? SESSIONS.name;
  let warning: Warning | undefined;
  // One row at a time: there may be any number of sessions.
  for (const { line, start, zone } of inUtc.iterate()) {
    if (IANAZone.create(zone).offset(Date.parse(start)) === 0) continue;
    const shownAs = `shown as ${start.slice(11, 16)} to readers`;
    const problem = `startAt is in UTC, the event's zone is ${zone}: ${shownAs}; export local offsets, see docs/data.md#local-times`;
    warning ??= { source, problem, count: 0, first: `line ${line}` };
    warning = { ...warning, count: warning.count + 1 };
  }
  return warning === undefined ? [] : [warning];
}
