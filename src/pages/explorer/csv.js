/** @import { Contract, Schema } from './contract.js' */

/** Lists as CSV (RFC 4180) with a column for each field of the contract. */

const NEWLINE = '\r\n';
/** Tells spreadsheets that the file is in UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';
/** Beginnings of a text that spreadsheets take for a formula, also those of full width. */
const FORMULA = /^(?:\s*[=+\-@＝＋－＠]|[\t\r])/;

/**
 * Returns the columns of a record, such as `customer.email`. A list is one column, and so is an object of any fields.
 * @param {Contract} contract
 * @param {Schema} schema
 * @returns {string[]}
 */
export function columnsOf(contract, schema) {
  const resolved = contract.resolve(schema);
  const variants = resolved.discriminator === undefined ? [] : (resolved.oneOf ?? []);
  const columns = [resolved, ...variants.map((variant) => contract.resolve(variant))].flatMap(
    ({ properties = {} }) =>
      Object.entries(properties).flatMap(([name, property = {}]) => {
        const inner = columnsOf(contract, property);
        return inner.length === 0 ? [name] : inner.map((each) => `${name}.${each}`);
      }),
  );
  return [...new Set(columns)];
}

/**
 * Returns a function from consecutive parts of a stream of lines to those of a CSV file. An empty part yields the header.
 * @param {readonly string[]} columns
 * @param {boolean} isMarked whether the file begins with a byte order mark
 */
export function csvEncoder(columns, isMarked) {
  const paths = columns.map((column) => column.split('.'));
  let head = (isMarked ? BYTE_ORDER_MARK : '') + rowOf(columns);
  let rest = '';
  return (/** @type {string} */ part) => {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    const records = lines.map((line) => /** @type {unknown} */ (JSON.parse(line)));
    const text =
      head + records.map((record) => rowOf(paths.map((path) => path.reduce(fieldOf, record)))).join('');
    head = '';
    return text;
  };
}

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {unknown}
 */
function fieldOf(value, name) {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** @param {readonly unknown[]} values */
function rowOf(values) {
  return values.map(cell).join(',') + NEWLINE;
}

/**
 * Writes a value. Null, and a field that the record does not have, is empty; an empty text is quoted.
 * @param {unknown} value
 */
function cell(value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value.replace(FORMULA, "'$&") : JSON.stringify(value);
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
