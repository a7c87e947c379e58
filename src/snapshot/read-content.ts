import type { ContentFile } from './content-file.ts';
import { contentDigest, ContentHash } from './content-hash.ts';
import type { TableDigest } from './content-hash.ts';
import type { Table } from './format.ts';
import type { ManifestOrganization } from './manifest.ts';
import { readTable } from './read-table.ts';
import type { Chunk } from './read-table.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';

export type OnProgress = (organizationId: string, table: string, rows: number) => void;

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
  takers: ReadonlyMap<string, (chunk: Chunk) => void>,
  onProgress?: OnProgress,
): ReadonlyMap<string, TableDigest> {
  const hash = new ContentHash();
  for (const table of tables) {
    for (const chunk of readTable(file, table, organization)) {
      takers.get(table.name)?.(chunk);
      const columns = [...chunk.columns.values()].map(({ bytes }) => bytes);
      hash.add(table.name, chunk.rowCount, columns);
      onProgress?.(organization.organizationId, table.name, chunk.firstRow + chunk.rowCount);
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
