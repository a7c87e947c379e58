import type { ContentFile } from './content-file.ts';
import { contentDigest, ContentHash } from './content-hash.ts';
import type { TableDigest } from './content-hash.ts';
import { digestRecords } from './digested-records.ts';
import { RECORD_COLUMN } from './format.ts';
import type { Table } from './format.ts';
import type { ManifestOrganization } from './manifest.ts';
import { readTable } from './read-table.ts';
import type { Chunk } from './read-table.ts';
import type { RecordsBuilder } from './records-builder.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';

export type OnProgress = (organizationId: string, table: string, rows: number) => void;

/** Takes a table that is read. */
export interface TableTaker {
  readonly take: (chunk: Chunk) => void;
  /** Takes the records, which then are no column of the chunks. */
  readonly records?: RecordsBuilder;
}

/**
 * Hands every chunk of some tables of an organization to the taker of its table. What the takers were given counts only
 * when the digests of all tables were found to be right.
 *
 * @param onProgress is called now and then with how many rows of a table were read so far
 * @returns what of each table goes into the digest
 * @throws RefusedSnapshot
 */
export function readContent(
  file: ContentFile,
  organization: ManifestOrganization,
  tables: readonly Table[],
  takers: ReadonlyMap<string, TableTaker>,
  onProgress?: OnProgress,
): ReadonlyMap<string, TableDigest> {
  const hash = new ContentHash();
  for (const table of tables) {
    const { name } = table;
    const taker = takers.get(name);
    for (const chunk of readTable(file, table, organization, taker?.records)) {
      taker?.take(chunk);
      const end = chunk.firstRow + chunk.rowCount;
      hash.add(
        name,
        chunk.rowCount,
        chunk.columns.entries().map(([column, { bytes }]) => [column, bytes]),
      );
      if (taker?.records?.tellCount() === false) {
        digestRecords(taker.records.image, chunk.firstRow, end, (values) => {
          hash.add(name, 0, [[RECORD_COLUMN, values]]);
        });
      }
      onProgress?.(organization.organizationId, name, end);
    }
  }
  return hash.tables();
}

/** @throws RefusedSnapshot when an organization's content is not what was digested */
export function checkDigest(
  { organizationId, digest }: ManifestOrganization,
  tables: ReadonlyMap<string, TableDigest>,
): void {
  if (contentDigest(tables) === digest) return;
  throw new RefusedSnapshot(
    'damaged',
    `the content of organization "${organizationId}" does not match its digest: ` +
      'the file is damaged; copy or build it again',
  );
}
