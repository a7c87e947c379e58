import { UTF_16 } from './import-files.ts';
import { type FieldProblem, shown } from './problems.ts';

/** Explains why a line is not a JSON object, with remedies for common mistakes. */

const WHOLE =
  "must be one whole JSON object: split an array with jq -c '.[]', join indented lines with jq -c .";
const CSV = 'must be a JSON object: convert CSV to NDJSON, see docs/data.md';
const CUT = 'must be a whole JSON object: the line ends too early';
const NUMBERS = 'must be a JSON object: write null for NaN, Infinity and None';
const COPY =
  "must be a JSON object: COPY in text format doubles backslashes, so export with COPY (…) TO STDOUT WITH (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')";
const QUOTES =
  'must be a JSON object: names and texts are in double quotes, other values are numbers, true, false and null';
const COMMA = 'must be a JSON object: no comma precedes } and ]';
const CONTROL = 'must be a JSON object: control characters in texts are escaped, such as \\t';
const OBJECT = 'must be a JSON object';

/** Hints by the words of the engine about the first error. */
const HINTS: readonly (readonly [message: RegExp, hint: string])[] = [
  [/^Unexpected end|^Unterminated/, CUT],
  [/^Unexpected token '[NIi]'|^No number after minus/, NUMBERS],
  [/^Unexpected token '[\]}]'/, COMMA],
  [/^Unexpected token '[a-z'`]'|^Expected property name/i, QUOTES],
  [/^Unexpected non-whitespace/, WHOLE],
  [/^Bad control/, CONTROL],
];

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
  const message = messageFor(text);
  const parts = /^(.*?)(?: in JSON)? at position (\d+)/.exec(message);
  if (parts === null) return problem(hintFor(message), message.replace(' is not valid JSON', ''));
  const [, fault, position] = parts;
  const [before, rest] = [text.slice(0, Number(position)), text.slice(Number(position))];
  return problem(hintFor(message, before.slice(-20), rest), `${fault} at column ${before.length + 1}`);
}

/** Returns the words of the engine about the first error in a line. */
function messageFor(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
}

/** Returns a hint for an error between two parts of a line. */
function hintFor(message: string, before = '', rest = '?'): string {
  if (rest === '') return CUT;
  if (/\\\\"[\s,:\]}]*$/.test(before)) return COPY;
  if (rest.startsWith('}') && before.endsWith(',')) return COMMA;
  return HINTS.find(([pattern]) => pattern.test(message))?.[1] ?? OBJECT;
}
