/** The problems of bad lines, and their groups: of a file, lines with the same problem form a group. */

export interface FieldProblem {
  /** Path of the field, such as `customer.email` or `placedItems[2].quantity`; empty for the line itself. */
  readonly field: string;
  /** The rest of a sentence that begins with the field: `must be …`, `is missing`. It does not depend on the value. */
  readonly reason: string;
  /** The value found, or its beginning, as JSON. */
  readonly found?: string | undefined;
  /** Whether the problem only follows from one of another line, and disappears with it. */
  readonly follows?: boolean;
}

/** The reason of each line after the first one with an id. */
export const UNIQUE = 'must be unique';

/** The lines of a file that have the same problem. */
export interface ProblemGroup extends FieldProblem {
  /** Path of the field, with all positions of a list in one: `placedItems[].quantity`. */
  readonly field: string;
  /** Number of lines. */
  readonly lines: number;
  /** Number of the first line. */
  readonly first: number;
}

/** A line that does not become a record. */
export interface BadLine {
  readonly line: number;
  readonly problems: readonly FieldProblem[];
  /** The line as it is in the file; undefined when it cannot be decoded. */
  readonly text: string | undefined;
}

/** The bad lines of a file, or of a part of it. The number of groups is bounded by the declared fields. */
export class BadLines {
  total = 0;
  /** Number of lines whose problems all follow from other lines. */
  following = 0;
  readonly groups = new Map<string, ProblemGroup>();
  /** The lines themselves, if they are kept. */
  readonly lines: BadLine[] = [];
  readonly keepsLines: boolean;

  constructor(keepsLines: boolean) {
    this.keepsLines = keepsLines;
  }

  add(bad: BadLine): void {
    this.total++;
    const own = bad.problems.filter(({ follows }) => !follows);
    if (own.length === 0) this.following++;
    for (const problem of own) addGroup(this.groups, { ...problem, lines: 1, first: bad.line });
    if (this.keepsLines) this.lines.push(bad);
  }
}

/** Adds a group to those of a file, whose lines arrive in any order. */
export function addGroup(groups: Map<string, ProblemGroup>, group: ProblemGroup): void {
  const field = inAnyPosition(group.field);
  const key = `${field} ${group.reason}`;
  const same = groups.get(key);
  const lines = group.lines + (same?.lines ?? 0);
  groups.set(key, { ...(same && same.first < group.first ? same : { ...group, field }), lines });
}

/** Returns the problems without those that repeat an earlier one in another position of a list. */
export function withoutRepetition(problems: Iterable<FieldProblem>): FieldProblem[] {
  const distinct = new Map<string, FieldProblem>();
  for (const problem of problems) {
    const key = `${inAnyPosition(problem.field)} ${problem.reason}`;
    if (!distinct.has(key)) distinct.set(key, problem);
  }
  return [...distinct.values()];
}

function inAnyPosition(field: string): string {
  return field.replace(/\[\d+\]/g, '[]');
}

/** Formats a problem as a sentence, such as `listPrice must be number or null, found "12.50"`. */
export function describeProblem({ field, reason, found }: FieldProblem): string {
  return `${field === '' ? 'the line' : field} ${reason}${found === undefined ? '' : `, found ${found}`}`;
}

/** Returns the beginning of a value's JSON for a message. */
export function quoted(value: unknown): string {
  // JSON has no notation for an infinite number.
  return shown(typeof value === 'number' ? String(value) : JSON.stringify(value));
}

const MAX_SHOWN = 60;

/** Returns the beginning of a text for a message. Control characters are replaced. */
export function shown(text: string): string {
  const start = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return start.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');
}
