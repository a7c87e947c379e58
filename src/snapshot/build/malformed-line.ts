import { UTF_16 } from './import-files.ts';
import { type FieldProblem, shown } from './problems.ts';

/** Explains why a line is not a JSON object, with remedies for common mistakes. */

const WHOLE =
  "must be one whole JSON object: split an array with jq -c '.[]', join indented lines with jq -c .";
const CSV = 'must be a JSON object: convert CSV to NDJSON, see docs/data.md';
const CUT = 'must be a whole JSON object: the line ends too early';
const NUMBERS = 'must be a JSON object: write null for NaN and Infinity';
const COPY =
  "must be a JSON object: COPY in text format doubles backslashes, so export with COPY (…) TO STDOUT WITH (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')";
const QUOTES =
  'must be a JSON object: names and texts are in double quotes, other values are numbers, true, false and null';
const COMMA = 'must be a JSON object: no comma precedes } and ]';
const CONTROL = 'must be a JSON object: control characters in texts are escaped, such as \\t';
const OBJECT = 'must be a JSON object';

/** Explains why a line that `parseObject` did not accept is malformed. */
export function malformed(text: string): FieldProblem {
  const problem = (reason: string, found: string): FieldProblem => ({
    field: '',
    reason,
    found: shown(found),
  });
  if (text.includes('\0')) return problem(UTF_16, text);
  // An array, a bracket alone, or an indented part of an object.
  if (/^\s*\[|^[\s,[\]{}]+$|^\s*"[^"]*"\s*:|^\s+[^{\s]/.test(text)) return problem(WHOLE, text.trim());
  if (!/^\s*\{/.test(text)) return problem(/^[^{}]*[,;\t|]/.test(text) ? CSV : OBJECT, text);
  const scan = new Scan(text);
  scan.object();
  const before = text.slice(0, scan.at).trimEnd();
  const rest = text.slice(scan.at);
  const reason = remedy(before, rest);
  const [what, at] = reason === CUT ? ['its end', text.length] : [excerpt(rest), scan.at];
  return problem(reason, `${what} at column ${at + 1}`);
}

/** Returns the reason for an error between two parts of a line. */
function remedy(before: string, rest: string): string {
  if (/^[-+]?(?:nan|inf)/i.test(rest)) return NUMBERS;
  // Nothing, or the beginning of a word, a number or an escape.
  if (/^[\w\\.+-]*$/.test(rest)) return CUT;
  if (/\\\\"[\s,:\]}]*$/.test(before.slice(-20))) return COPY;
  if (/^[,{[]/.test(rest) && before.endsWith('}')) return WHOLE;
  if (/^[}\]]/.test(rest) && before.endsWith(',')) return COMMA;
  if (/^[a-z_$'`]/i.test(rest)) return QUOTES;
  return rest < ' ' ? CONTROL : OBJECT;
}

/** Returns the token that begins a text, or its first characters. */
function excerpt(text: string): string {
  return /^[\w$+.-]+/.exec(text)?.[0] ?? text.slice(0, 10);
}

type Expected = 'value' | 'first' | 'name' | 'colon' | 'next';

const SCALAR = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SPACE = /[ \t\r\n]*/y;

/**
 * Finds the position of the first error in a JSON text. `JSON.parse` reports it only in words that vary, and parsers
 * that call themselves for each nested value overflow the stack.
 */
class Scan {
  at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Moves to the end of an object, or to the first error in it. */
  object(): void {
    const open: string[] = [];
    let expected: Expected | undefined = 'value';
    do {
      this.#accept(SPACE);
      expected = this.#token(expected, open);
    } while (expected !== undefined);
  }

  /** Reads a token. Returns the expectation after it, undefined for an error. `open` has the open brackets. */
  #token(expected: Expected, open: string[]): Expected | undefined {
    const char = this.#text[this.at];
    const isClosing = char === (open.at(-1) === '{' ? '}' : ']');
    switch (expected) {
      case 'next':
        if (open.length > 0 && char === ',') return this.#advance(open.at(-1) === '{' ? 'name' : 'value');
        return isClosing && open.pop() !== undefined ? this.#advance('next') : undefined;
      case 'first':
        if (isClosing) return this.#token('next', open);
        return this.#token(open.at(-1) === '{' ? 'name' : 'value', open);
      case 'name':
        return this.#string() ? 'colon' : undefined;
      case 'colon':
        return char === ':' ? this.#advance('value') : undefined;
      case 'value':
        if (char === '{' || char === '[') {
          open.push(char);
          return this.#advance('first');
        }
        return this.#string() || this.#accept(SCALAR) ? 'next' : undefined;
    }
  }

  #advance(expected: Expected): Expected {
    this.at++;
    return expected;
  }

  /** Accepts the text that a sticky pattern matches here. */
  #accept(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    if (!pattern.test(this.#text)) return false;
    this.at = pattern.lastIndex;
    return true;
  }

  /** Accepts a string. An error in it is at the character that cannot be part of it. */
  #string(): boolean {
    if (this.#text[this.at] !== '"') return false;
    this.at++;
    while (this.at < this.#text.length && this.#text[this.at] >= ' ') {
      const char = this.#text[this.at];
      if (char === '\\' && !this.#accept(ESCAPE)) return false;
      if (char !== '\\') this.at++;
      if (char === '"') return true;
    }
    return false;
  }
}
