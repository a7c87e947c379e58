import type { Bytes, Int64s } from '../store/shared.ts';
import type { Column } from './column-text.ts';
import type { ContentFile } from './content-file.ts';
import { CHUNK_ROWS } from './format.ts';
import type { Table } from './format.ts';
import { segmentOf } from './manifest.ts';
import type { ManifestOrganization } from './manifest.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import type { TextTaker } from './stored-values.ts';

/** Rows of a table, a column at a time. The memory of its columns is that of the next chunk. */
export interface Chunk {
  readonly table: string;
  /** Counted from the first row of the organization. */
  readonly firstRow: number;
  readonly rowCount: number;
  readonly columns: ReadonlyMap<string, Column>;
}

/** A chunk has no more rows when it has so many bytes: it is read, digested and copied while it is in the processor's cache. */
const CHUNK_BYTES = 256 * 1024;

/**
 * @param records takes the records, which then are no column of the chunks
 * @throws RefusedSnapshot when rows are missing
 */
export function* readTable(
  file: ContentFile,
  { name, columns }: Table,
  { segments }: ManifestOrganization,
  records?: TextTaker,
): Generator<Chunk> {
  const { firstRow, rowCount } = segmentOf(segments, name);
  if (rowCount === 0) return;
  const bases = columns.map((column) =>
    isReference(column) ? segmentOf(segments, referenced(column)).firstRow : 0,
  );
  const { rows, values } = file.tableOf(name);
  values.begin(records);
  rows.seek(firstRow);
  for (let first = 0, row = 0; row < rowCount; first = row) {
    let bytes = 0;
    while (row < rowCount && row < first + CHUNK_ROWS && bytes < CHUNK_BYTES) {
      if (!rows.next() || rows.rowId !== firstRow + row) {
        throw new RefusedSnapshot(
          'inconsistent',
          `${name} has ${row} of its ${rowCount} rows from ${firstRow} on`,
        );
      }
      values.take(rows, bases);
      bytes += rows.end - rows.start;
      row++;
    }
    yield { table: name, firstRow: first, rowCount: row - first, columns: values.columns() };
    values.clear();
  }
}

/** Columns that hold rows of another table are read relative to the organization's first, as its digest must be. */
function isReference(column: string): boolean {
  return column.endsWith('_row');
}

function referenced(column: string): string {
  return column.replace(/_row$/, 's');
}

export function columnOf({ columns }: Chunk, name: string): Column {
  const column = columns.get(name);
  if (column === undefined) throw new TypeError(`no column ${name}`);
  return column;
}

/** Of a column of whole numbers. */
export function integersOf(chunk: Chunk, name: string): Int64s {
  const { integers } = columnOf(chunk, name);
  if (integers === undefined) throw new TypeError(`column ${name} has no numbers`);
  return integers;
}

/** Calls `visit` with the bounds of each value of a column of a chunk, and its row. */
export function eachValue(
  chunk: Chunk,
  name: string,
  visit: (bytes: Bytes, start: number, end: number, row: number) => void,
): void {
  const { bytes, ends } = columnOf(chunk, name);
  for (let i = 0, start = 0; i < ends.length; i++) {
    visit(bytes, start, ends[i], chunk.firstRow + i);
    start = ends[i] + 1;
  }
}

export function readText(bytes: Bytes, start: number, end: number): string {
  return Buffer.from(bytes.subarray(start, end)).toString();
}
