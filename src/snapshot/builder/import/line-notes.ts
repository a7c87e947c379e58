import type { Json } from '../../../contract/field.ts';
import { textsIn } from '../../format/json-values.ts';
import { addGroup, type FileGroup, type ProblemGroup } from './problems.ts';
import { isOfPricing, isSuspect, RULES, type Warning } from './rules.ts';

/** Adds to the number of occurrences of a field. */
export function addCount(counts: Map<string, number>, field: string, count: number): void {
  counts.set(field, (counts.get(field) ?? 0) + count);
}

/**
 * Lines that are checked for repeated keys: all up to a number, then one in sixteen, and from the first finding of a
 * block to its end each. A check of every line would take 15 % of the processor time of a build.
 */
const CHECKED_LINES = 1000;
const CHECKED_INTERVAL = 16;
/** Longer lines are not checked for repeated keys. */
const MAX_CHECKED_LENGTH = 65_536;

/** Collects the content of a block's lines that their records lack: undeclared fields and repeated keys. */
export class LineNotes {
  /** Occurrences of undeclared fields. */
  readonly dropped = new Map<string, number>();
  /** Problems of lines that were accepted. */
  readonly suspects = new Map<string, ProblemGroup>();
  /** Number of the line that is being read. */
  line = 0;
  /** Its values for which there is a rule, unless they keep it; a pricing as JSON with its offer. */
  mentions: { readonly rule: number; readonly value: string | number }[] = [];
  /** The innermost offer around the value that is being read. */
  offerId: Json = null;
  #hasRepeatedKey = false;

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

  /** Checks the keys of the line, a JSON object. */
  checkKeys(text: string): void {
    const isNext = this.line <= CHECKED_LINES || this.line % CHECKED_INTERVAL === 0 || this.#hasRepeatedKey;
    if (!isNext || text.length > MAX_CHECKED_LENGTH) return;
    const key = repeatedKey(text);
    if (key === undefined) return;
    this.#hasRepeatedKey = true;
    this.suspect(`the key ${key} occurs twice in an object`);
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

/** Merges the notes on the blocks of an import, in the order of the lines. */
export class ImportNotes {
  /** Occurrences of undeclared fields, by file and field. */
  readonly dropped = new Map<string, number>();
  readonly #suspects = new Map<string, FileGroup>();

  add(file: string, { dropped, suspects }: Pick<LineNotes, 'dropped' | 'suspects'>): void {
    for (const [field, count] of dropped) addCount(this.dropped, `${file}: ${field}`, count);
    for (const group of suspects.values()) addGroup(this.#suspects, { file, ...group });
  }

  /** The warnings about lines. */
  get warnings(): Warning[] {
    return Array.from(this.#suspects.values(), ({ file, reason, lines, first }) => {
      return { source: file, problem: reason, count: lines, first: `line ${first}` };
    });
  }
}
