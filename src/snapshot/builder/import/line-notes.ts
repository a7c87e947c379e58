import type { Json } from '../../../contract/field.ts';
import { type JsonObject, textIn, textsIn } from '../../format/json-values.ts';
import { type LineBlock, linesOf } from './import-files.ts';
import { DOUBLED_NEWLINE, type FieldProblem } from './problems.ts';
import { isOfPricing, isSuspect, RULES } from './rules.ts';

export function addCount(counts: Map<string, number>, field: string, count: number): void {
  counts.set(field, (counts.get(field) ?? 0) + count);
}

/** The first lines of a file, which are checked for repeated keys. A check of all would take 15 % of a build's time. */
const CHECKED_LINES = 1000;
/** Longer lines are not checked for repeated keys. */
const MAX_CHECKED_LENGTH = 65_536;

/** Collects the bad lines of a block, and what good lines have and their records lack. */
export class LineNotes {
  /** Number of good lines. */
  good = 0;
  /** Problems that only follow from other lines come last. A line that cannot be decoded has no text. */
  readonly bad: { line: number; problems: readonly FieldProblem[]; text: string | undefined }[] = [];
  /** Occurrences of undeclared fields. */
  readonly dropped = new Map<string, number>();
  /** Number of lines that were accepted in spite of a problem, and the first one, by problem. */
  readonly suspects = new Map<string, { readonly count: number; readonly first: number }>();
  line = 0;
  /** Its values for which there is a rule, unless they keep it; a pricing as JSON with its offer. */
  mentions: { readonly rule: number; readonly value: string | number }[] = [];
  /** The innermost offer around the value that is being read. */
  offerId: Json = null;
  record: JsonObject = {};
  /** Time of the snapshot's production, in milliseconds since the epoch. */
  producedAt = 0;

  /** Notes that the line was accepted, but looks wrong. */
  suspect(problem: string): void {
    const { count, first } = this.suspects.get(problem) ?? { count: 0, first: this.line };
    this.suspects.set(problem, { count: count + 1, first });
  }

  /** Notes the value of a field with a rule, or each value of its list. Returns the value. */
  mention(rule: number, value: Json): Json {
    if (Array.isArray(value)) for (const one of textsIn(value)) this.mention(rule, one);
    else if (
      (typeof value === 'string' || typeof value === 'number') &&
      isSuspect(RULES[rule], value, this.record, this.producedAt)
    ) {
      const isPricing = isOfPricing(RULES[rule]);
      this.mentions.push({ rule, value: isPricing ? JSON.stringify([this.offerId, value]) : value });
    }
    return value;
  }

  /** Checks the text of the line, a JSON object: its backslashes and its keys. */
  checkText(text: string): void {
    if (text.includes(String.raw`\\n`)) this.suspect(DOUBLED_NEWLINE);
    if (this.line > CHECKED_LINES || text.length > MAX_CHECKED_LENGTH) return;
    const key = repeatedKey(text);
    if (key !== undefined) this.suspect(`the key ${key} occurs twice in an object`);
  }
}

/**
 * Reads the lines of a block.
 * @param held organizations whose lines are skipped
 * @param problemsOf returns the problems of a line's object, and notes what else it has
 */
export function readBlock(
  block: LineBlock,
  held: ReadonlyMap<string, unknown>,
  problemsOf: (record: JsonObject, notes: LineNotes, text: string) => readonly FieldProblem[],
): LineNotes {
  const notes = new LineNotes();
  for (const line of linesOf(block)) {
    if (held.size > 0 && held.has(textIn(line.record?.['organizationId']))) continue;
    notes.line = line.number;
    notes.mentions = [];
    const problems = line.record === undefined ? [line.problem] : problemsOf(line.record, notes, line.text);
    if (problems.length > 0) notes.bad.push({ line: line.number, problems, text: line.text });
    else notes.good++;
  }
  return notes;
}

/** Returns the first key, as JSON, that an object has twice. JSON.parse keeps the last value of such a key. */
function repeatedKey(json: string): string | undefined {
  const objects: Set<string>[] = [];
  for (const [token] of json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?|[{}]/g)) {
    if (token === '{') objects.push(new Set());
    else if (token === '}') objects.pop();
    else if (token.endsWith(':')) {
      const keys = objects.at(-1);
      const key = token.slice(0, token.lastIndexOf('"') + 1);
      if (keys?.has(key) === true) return key;
      keys?.add(key);
    }
  }
  return undefined;
}
