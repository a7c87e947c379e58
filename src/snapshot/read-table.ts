import type Database from 'better-sqlite3';
import type { Bytes } from '../store/shared.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import { CHUNK_ROWS, SEPARATOR } from './format.ts';
import type { Table } from './format.ts';
import { segmentOf } from './manifest.ts';
import type { ManifestOrganization } from './manifest.ts';

/**
 * Rows of a table, a column at a time: the values of each column joined by a byte that no text holds. To cross
 * from SQLite into JavaScript once a chunk, not once a row, is what makes reading fast.
 */
export interface Chunk {
  readonly table: string;
  /** Counted from the first row of the organization. */
  readonly firstRow: number;
  readonly rowCount: number;
  readonly columns: ReadonlyMap<string, Bytes>;
}

type Statement = Database.Statement<number[], [count: number, ...values: (Buffer | null)[]]>;

/** A file may hold thousands of organizations: what reads a table is prepared once for all of them. */
const statements = new WeakMap<Database.Database, Map<string, Statement>>();

function statementOf(database: Database.Database, table: Table): Statement {
  const prepared = statements.get(database) ?? new Map<string, Statement>();
  statements.set(database, prepared);
  const statement = prepared.get(table.name) ?? prepare(database, table);
  prepared.set(table.name, statement);
  return statement;
}

/** Its parameters, which are bound as floating-point numbers: the first row of each table that the columns refer to, and the rows to read, from and until. */
function prepare(database: Database.Database, { name, columns }: Table): Statement {
  const values = columns.map((column) => {
    const value = isReference(column) ? `${column} - CAST(? AS INTEGER)` : column;
    return `CAST(group_concat(${value}, CAST(x'${SEPARATOR.toString(16)}' AS TEXT)) AS BLOB)`;
  });
  return database
    .prepare<number[], [count: number, ...values: (Buffer | null)[]]>(
      `SELECT count(*), ${values.join(', ')} FROM ${name} WHERE row >= ? AND row < ?`,
    )
    .raw();
}

/** @throws RefusedSnapshot when rows are missing */
export function* readTable(
  database: Database.Database,
  table: Table,
  { segments }: ManifestOrganization,
): Generator<Chunk> {
  const { firstRow, rowCount } = segmentOf(segments, table.name);
  const statement = statementOf(database, table);
  const bases = table.columns
    .filter(isReference)
    .map((column) => segmentOf(segments, referenced(column)).firstRow);
  for (let first = 0; first < rowCount; first += CHUNK_ROWS) {
    const count = Math.min(CHUNK_ROWS, rowCount - first);
    const from = firstRow + first;
    const [found, ...values] = statement.get(...bases, from, from + count) ?? [0];
    if (found !== count) {
      throw new RefusedSnapshot(
        'inconsistent',
        `${table.name} has ${found} of its ${count} rows from ${from} on`,
      );
    }
    const read = table.columns.map((column, i): [string, Bytes] => {
      const bytes = values[i];
      if (bytes === null)
        throw new RefusedSnapshot('inconsistent', `${table.name} has no ${column} from row ${from} on`);
      return [column, bytes];
    });
    yield { table: table.name, firstRow: first, rowCount: count, columns: new Map(read) };
  }
}

/** Columns that hold rows of another table are read relative to the organization's first, as its digest must be. */
function isReference(column: string): boolean {
  return column.endsWith('_row');
}

function referenced(column: string): string {
  return column.replace(/_row$/, 's');
}

export function columnOf({ columns }: Chunk, name: string): Bytes {
  const column = columns.get(name);
  if (column === undefined) throw new TypeError(`no column ${name}`);
  return column;
}

/**
 * Calls `visit` with the bounds of each value of a column of a chunk, and its row.
 * @throws RefusedSnapshot when there are not as many values as rows
 */
export function eachValue(
  chunk: Chunk,
  name: string,
  visit: (bytes: Bytes, start: number, end: number, row: number) => void,
): void {
  const bytes = columnOf(chunk, name);
  const last = chunk.firstRow + chunk.rowCount - 1;
  let start = 0;
  for (let row = chunk.firstRow; row <= last; row++) {
    const found = bytes.indexOf(SEPARATOR, start);
    if (found < 0 !== (row === last))
      throw new RefusedSnapshot(
        'inconsistent',
        `column ${name} of ${chunk.table} does not hold one text or number a row`,
      );
    const end = found < 0 ? bytes.length : found;
    visit(bytes, start, end, row);
    start = end + 1;
  }
}

export function readText(bytes: Bytes, start: number, end: number): string {
  return Buffer.from(bytes.subarray(start, end)).toString();
}

/**
 * A whole number that stands as decimal digits in `bytes[start … end]`, exact to 2^53.
 * @throws RefusedSnapshot when something else stands there
 */
export function readNumber(bytes: Bytes, start: number, end: number): number {
  const negative = bytes[start] === 0x2d;
  let value = 0;
  for (let i = negative ? start + 1 : start; i < end; i++) {
    const digit = bytes[i] - 0x30;
    if (digit < 0 || digit > 9)
      throw new RefusedSnapshot('inconsistent', 'a column of whole numbers holds something else');
    value = value * 10 + digit;
  }
  return negative ? -value : value;
}

const SAFE_DIGITS = 15;
/** Those of the least integer of 64 bits, with its sign. */
const MOST_DIGITS = 20;

/**
 * The same of 64 bits.
 * @throws RefusedSnapshot
 */
export function readBigInt(bytes: Bytes, start: number, end: number): bigint {
  if (end - start <= SAFE_DIGITS) return BigInt(readNumber(bytes, start, end));
  if (end - start > MOST_DIGITS)
    throw new RefusedSnapshot('inconsistent', 'a column of instants holds something else');
  return (
    BigInt(readNumber(bytes, start, end - SAFE_DIGITS)) * 10n ** BigInt(SAFE_DIGITS) +
    BigInt(readNumber(bytes, end - SAFE_DIGITS, end)) * (bytes[start] === 0x2d ? -1n : 1n)
  );
}
