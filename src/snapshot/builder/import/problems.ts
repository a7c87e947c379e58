import { distance } from 'fastest-levenshtein';
import type { Json } from '../../../contract/field.ts';
import { objectIn } from '../../format/json-values.ts';

/** The problems of bad lines, and their groups: of a file, lines with the same problem form a group. */

export interface FieldProblem {
  /** Path of the field, such as `customer.email` or `placedItems[2].quantity`; empty for the line itself. */
  readonly field: string;
  /** The rest of a sentence that begins with the field: `must be …`, `is missing`. It does not depend on the value. */
  readonly reason: string;
  /** The value found, or its beginning, as JSON. */
  readonly found?: string | undefined;
  /** Whether the problem only follows from one of another line, and disappears with it. */
  readonly isConsequence?: boolean;
}

/** The reason of each line after the first one with an id. */
export const UNIQUE = 'must be unique';

/**
 * The lines of an import file, or the records of a base, that have the same problem.
 * All positions of a list are one field: `placedItems[].quantity`.
 */
export interface ProblemGroup extends FieldProblem {
  readonly file: string;
  readonly lines: number;
  readonly first: number;
  /** Whether they are records of a base, which have no lines. */
  readonly ofBase?: boolean | undefined;
}

/** Returns the problems without those that repeat an earlier one in another position of a list. */
export function withoutRepetition(problems: Iterable<FieldProblem>): FieldProblem[] {
  const key = ({ field, reason }: FieldProblem) => `${inAnyPosition(field)} ${reason}`;
  return Array.from(Map.groupBy(problems, key).values(), ([first]) => first);
}

export function inAnyPosition(field: string): string {
  return field.replace(/\[\d+\]/g, '[]');
}

export const UTF_16 = 'must be UTF-8, not UTF-16';
const OBJECT = 'must be a JSON object';
const CSV = `${OBJECT}: convert CSV to NDJSON, see docs/data.md`;
const WHOLE =
  "must be one whole JSON object: split an array with jq -c '.[]', join indented lines with jq -c .";
const DOUBLED =
  "backslashes are doubled: export by COPY WITH (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02'), or by mysql --raw";
/** The problem of a line whose texts probably had line ends. */
export const DOUBLED_NEWLINE = String.raw`has \\n in place of \n; ${DOUBLED}`;
const BEGINNINGS: Readonly<Record<string, string>> = {
  '\u001e': "must not begin with a record separator of RFC 7464: remove it with tr -d '\\036'",
  '\ufeff': String.raw`must not begin with a byte order mark: remove it with sed 's/^\xEF\xBB\xBF//'`,
};

/** A number of so many digits, with its point, or so small that a double may not hold it. A text may look like it. */
const LONG_NUMBER = /[:[,]\s*-?(?:[\d.]{16}|[\d.]+[eE]-\d{3})/;

/** Parses a line, or explains why it is not a JSON object. A number that a double does not hold becomes infinite. */
export function parseLine(line: string) {
  try {
    const reviver = LONG_NUMBER.test(line) ? heldOnly : undefined;
    const record = objectIn(JSON.parse(line.trimEnd(), reviver) as Json);
    return record === undefined ? { problem: malformed(line) } : { record };
  } catch (error) {
    return { problem: malformed(line, error instanceof Error ? error.message : '') };
  }
}

function heldOnly(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return decimalOf(String(value)) === decimalOf(context.source) ? value : Infinity;
}

/** Returns the digits of a number between the zeros at both ends, and their exponent. */
function decimalOf(number: string): string {
  const [mantissa, exponent = ''] = number.toLowerCase().split('e');
  const [whole, fraction = ''] = mantissa.split('.');
  const digits = (whole + fraction).replace(/^-?0*/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  const power = Number(exponent) - fraction.length + digits.length - end;
  return end === 0 ? '0' : `${digits.slice(0, end)}e${power}`;
}

/** Explains a malformed line, with remedies for the commonest cases. */
function malformed(line: string, message = ''): FieldProblem {
  const text = line.trim();
  const problem = (reason: string, found = text) => ({ field: '', reason, found: shown(found) });
  if (text.includes('\0')) return problem(UTF_16);
  if (line[0] in BEGINNINGS) return problem(BEGINNINGS[line[0]]);
  // An array, or a line of an indented object.
  if (/^([[\]}]|\{$)/.test(text) || /^\s+[^\s{]/.test(line)) return problem(WHOLE);
  if (!text.startsWith('{')) return problem(/[,;\t|]/.test(text) ? CSV : OBJECT);
  const fault = message.replace(' is not valid JSON', '');
  const reason = text.includes(String.raw`\\"`) ? `${OBJECT}: ${DOUBLED}` : OBJECT;
  return problem(reason, fault.replace(/(?: in JSON)? at position .*(column \d+)\)$/, ' at $1'));
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

/**
 * Returns the known name that a name resembles most: apart from letter case and punctuation, one contains the other, or
 * they differ by a typing mistake.
 */
export function similarName(name: string, known: Iterable<string>): string | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  const given = plain(name);
  const resembles = (candidate: string) => {
    const [shorter, longer] = [given, candidate].sort((a, b) => a.length - b.length);
    // Almost any two shorter names are one mistake apart.
    if (shorter.length < 4) return shorter === longer;
    return longer.includes(shorter) || distance(shorter, longer) <= (longer.length < 10 ? 1 : 2);
  };
  const edits = (candidate: string) => distance(given, plain(candidate));
  return [...known].filter((one) => resembles(plain(one))).sort((a, b) => edits(a) - edits(b))[0];
}
