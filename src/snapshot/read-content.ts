import type { ContentFile } from './content-file.ts';
import { ContentHash } from './content-hash.ts';
import { CONTENT_TABLES } from './format.ts';
import type { ManifestOrganization } from './manifest.ts';
import { readTable } from './read-table.ts';
import type { Chunk } from './read-table.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';

export type OnProgress = (organizationId: string, table: string, rows: number) => void;

/**
 * Hands every chunk of an organization's content to the taker of its table, and then checks that it was all as it was
 * digested: what the takers were given counts only after that.
 *
 * @param onProgress is called now and then with how many rows of a table were read so far
 * @throws RefusedSnapshot
 */
export function readContent(
  file: ContentFile,
  organization: ManifestOrganization,
  takers: ReadonlyMap<string, (chunk: Chunk) => void>,
  onProgress?: OnProgress,
): void {
  const hash = new ContentHash();
  for (const table of CONTENT_TABLES) {
    for (const chunk of readTable(file, table, organization)) {
      takers.get(table.name)?.(chunk);
      const columns = [...chunk.columns.values()].map(({ bytes }) => bytes);
      hash.add(table.name, chunk.rowCount, columns);
      onProgress?.(organization.organizationId, table.name, chunk.firstRow + chunk.rowCount);
    }
  }
  if (hash.digest() === organization.digest) return;
  throw new RefusedSnapshot(
    'damaged',
    `the content of organization "${organization.organizationId}" does not match its digest: ` +
      'the file is damaged; copy or build it again',
  );
}
