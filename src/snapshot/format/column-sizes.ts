import type Database from 'better-sqlite3';
import type { CollectionName } from '../../contract/operations.ts';
import { byCollection, type CollectionLayout } from './layout.ts';
import { inconsistent, type RefusedSnapshot } from './refused-snapshot.ts';
import { allColumns, MAX_RUN_BYTES } from './schema.ts';

interface Place {
  readonly firstRow: number;
}

interface Runs {
  readonly organizationId: string;
  readonly runs: Readonly<Record<CollectionName, readonly Place[]>>;
}

const lengths = (columns: readonly string[]) => columns.map((column) => `octet_length(${column})`);

/**
 * Returns the condition of a run, by organization and first row, whose columns are within their limit.
 * octet_length() reads only the header of a row, so that an oversized column takes no memory.
 */
export function isRun(layout: CollectionLayout): string {
  return `organization_id = ? AND first_row = ? AND max(${lengths(allColumns(layout)).join(', ')}) <= ${MAX_RUN_BYTES}`;
}

export function noRun(
  { table }: CollectionLayout,
  organizationId: string,
  { firstRow }: Place,
): RefusedSnapshot {
  return inconsistent(
    `${table} has no valid run of "${organizationId}" at row ${firstRow}: it is missing, or a column is NULL or ` +
      `exceeds ${MAX_RUN_BYTES} bytes`,
  );
}

/** What the runs of a collection have besides records. */
export interface ColumnSizes {
  /** Bytes of the columns of texts and lists. */
  readonly bytes: number;
  /** Elements of the lists, at most. */
  readonly elements: number;
  /** Bytes of all columns of the largest run. */
  readonly largestRun: number;
}

/** Returns a function that reads the sizes of the columns of an organization. Lists are counted by their quotes. */
export function columnSizes(database: Database.Database) {
  const statements = byCollection((layout) => {
    const indexed = layout.columns.filter(({ holds }) => holds !== 'instant').map(({ column }) => column);
    const lists = layout.columns.filter(({ holds }) => holds === 'list').map(({ column }) => column);
    const quotes = lists.map(
      (column) => `octet_length(${column}) - octet_length(replace(${column}, '"', ''))`,
    );
    return database.prepare<[string, number], ColumnSizes>(
      `SELECT ${lengths(indexed).join(' + ')} AS bytes, (${['0', ...quotes].join(' + ')}) / 2 AS elements,
              ${lengths(allColumns(layout)).join(' + ')} AS largestRun
       FROM ${layout.table} WHERE ${isRun(layout)}`,
    );
  });
  /** @throws RefusedSnapshot when a run is missing or too large */
  return ({ organizationId, runs }: Runs) =>
    byCollection((layout): ColumnSizes => {
      const sizes = { bytes: 0, elements: 0, largestRun: 0 };
      for (const entry of runs[layout.name]) {
        const run = statements[layout.name].get(organizationId, entry.firstRow);
        if (run === undefined) throw noRun(layout, organizationId, entry);
        sizes.bytes += run.bytes;
        sizes.elements += run.elements;
        sizes.largestRun = Math.max(sizes.largestRun, run.largestRun);
      }
      return sizes;
    });
}
