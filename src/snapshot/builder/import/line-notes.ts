import type { Json } from '../../../contract/field.ts';
import { textsIn } from '../../format/json-values.ts';
import { addGroup, DOUBLED_NEWLINE, type FieldProblem, type ProblemGroup } from './problems.ts';
import { isOfPricing, isSuspect, RULES } from './rules.ts';

export function addCount(counts: Map<string, number>, field: string, count: number): void {
  counts.set(field, (counts.get(field) ?? 0) + count);
}

/** The first lines of a file, which are checked for repeated keys. A check of all would take 15 % of a build's time. */
const CHECKED_LINES = 1000;
/** Longer lines are not checked for repeated keys. */
const MAX_CHECKED_LENGTH = 65_536;

/** Collects the problems of a block's lines, and what good lines have and their records lack. */
export class LineNotes {
  total = 0;
  /** Number of bad lines whose problems all follow from other lines. */
  consequences = 0;
  readonly problems = new Map<string, ProblemGroup>();
  /** The bad lines themselves, if they are kept. A line that cannot be decoded has no text. */
  readonly lines: { line: number; problems: readonly FieldProblem[]; text: string | undefined }[] = [];
  /** Occurrences of undeclared fields. */
  readonly dropped = new Map<string, number>();
  /** Problems of lines that were accepted. */
  readonly suspects = new Map<string, ProblemGroup>();
  line = 0;
  /** Its values for which there is a rule, unless they keep it; a pricing as JSON with its offer. */
  mentions: { readonly rule: number; readonly value: string | number }[] = [];
  /** The innermost offer around the value that is being read. */
  offerId: Json = null;
  readonly #keepsLines: boolean;

  constructor(keepsLines = false) {
    this.#keepsLines = keepsLines;
  }

  reject(problems: readonly FieldProblem[], text: string | undefined): void {
    this.total++;
    const own = problems.filter(({ isConsequence }) => !isConsequence);
    if (own.length === 0) this.consequences++;
    for (const problem of own) addGroup(this.problems, { ...problem, lines: 1, first: this.line });
    if (this.#keepsLines) this.lines.push({ line: this.line, problems, text });
  }

  /** Notes that the line was accepted, but looks wrong. */
  suspect(problem: string): void {
    addGroup(this.suspects, { field: '', reason: problem, lines: 1, first: this.line });
  }

  /** Notes the value of a field with a rule, or each value of its list. Returns the value. */
  mention(rule: number, value: Json): Json {
    if (Array.isArray(value)) for (const one of textsIn(value)) this.mention(rule, one);
    else if ((typeof value === 'string' || typeof value === 'number') && isSuspect(RULES[rule], value)) {
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
