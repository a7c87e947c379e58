import type { Warning } from '../../review/review.ts';

/** Number of occurrences by field. */
export type FieldCounts = Map<string, number>;

export function addCount(counts: FieldCounts, field: string, count: number): void {
  counts.set(field, (counts.get(field) ?? 0) + count);
}

/** Problems of lines that were accepted, with the number of the lines and the first of them. */
type Suspects = Map<string, Suspect>;

interface Suspect {
  count: number;
  readonly line: number;
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
  readonly dropped: FieldCounts = new Map();
  readonly suspects: Suspects = new Map();
  /** Number of the line that is being read. */
  line = 0;
  #hasRepeatedKey = false;

  /** Notes that the line was accepted, but looks wrong. */
  suspect(problem: string): void {
    addSuspect(this.suspects, problem, 1, this.line);
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

function addSuspect(suspects: Suspects, problem: string, count: number, line: number): void {
  const known = suspects.get(problem);
  if (known === undefined) suspects.set(problem, { count, line });
  else known.count += count;
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
  readonly dropped: FieldCounts = new Map();
  readonly #suspects = new Map<string, Suspects>();

  add(file: string, { dropped, suspects }: Pick<LineNotes, 'dropped' | 'suspects'>): void {
    for (const [field, count] of dropped) addCount(this.dropped, `${file}: ${field}`, count);
    const ofFile = this.#suspects.get(file) ?? new Map<string, Suspect>();
    for (const [problem, { count, line }] of suspects) addSuspect(ofFile, problem, count, line);
    this.#suspects.set(file, ofFile);
  }

  /** The warnings about lines. */
  get warnings(): Warning[] {
    return [...this.#suspects].flatMap(([file, suspects]) =>
      Array.from(suspects, ([problem, { count, line }]) => {
        return { source: file, problem, count, first: `line ${line}` };
      }),
    );
  }
}
