import type Database from 'better-sqlite3';
import type { CollectionName } from '../../../contract/operations.ts';
import type { Instant } from '../../../contract/timestamp.ts';
import { type CollectionLayout, COLLECTIONS } from '../../format/layout.ts';
import {
  type DeclaredList,
  deletionsDigest,
  type DigestedManifest,
  instantOf,
  manifestDigest,
  type ManifestOrganization,
  permitValues,
} from '../../format/manifest.ts';
import { damaged } from '../../format/refused-snapshot.ts';
import { ListDigest, sumText } from '../../format/schema.ts';
import { Block } from '../../load/block.ts';
import { BlockReader } from '../../load/block-reader.ts';

/** An organization whose records are written. Its lists have the counts, bounds and sums of these. */
export interface WrittenOrganization extends Pick<ManifestOrganization, 'organizationId' | 'name' | 'since'> {
  readonly lists: Record<CollectionName, DeclaredList>;
}

/**
 * Reads the records back, and writes the manifest. Pauses after each step.
 * @throws RefusedSnapshot when the file does not have the records with the sums, or has a change at another time than
 *   that of a snapshot
 */
export function* completeSnapshot(
  database: Database.Database,
  snapshot: Omit<DigestedManifest, 'organizations'>,
  written: readonly WrittenOrganization[],
): Generator<undefined, void> {
  const reader = new BlockReader(database);
  const times = new Set([...snapshot.ancestors, snapshot].map((one) => instantOf(one.producedAt)));
  const organizations: DigestedManifest['organizations'][number][] = [];
  for (const organization of written) {
    const { organizationId } = organization;
    const lists = { ...organization.lists };
    for (const layout of COLLECTIONS) {
      const { [layout.name]: list } = lists;
      if (list.recordCount > 0)
        lists[layout.name] = yield* measure(reader, layout, organization, list, times);
    }
    organizations.push({
      ...organization,
      lists,
      deletionsDigest: deletionsDigest(database, organizationId),
    });
  }
  writeManifest(database, { ...snapshot, organizations });
}

/**
 * Returns a list with its bytes and its digest.
 * @param times of the snapshots since which all changes are known
 */
function* measure(
  reader: BlockReader,
  layout: CollectionLayout,
  { organizationId, since }: WrittenOrganization,
  list: DeclaredList,
  times: ReadonlySet<Instant>,
): Generator<undefined, DeclaredList> {
  const [earliest] = times;
  const began = instantOf(since);
  const history = { since: earliest > began ? earliest : began, times };
  const digest = new ListDigest();
  let [recordCount, recordBytes, textBytes, listElements, sum] = [0, 0, 0, 0, 0n];
  for (const stored of reader.read(layout, organizationId, list)) {
    digest.add(stored);
    const block = new Block(layout, stored);
    recordCount += block.count;
    recordBytes += block.recordBytes;
    textBytes += block.textBytes;
    listElements += block.listElements;
    for (let i = 0; i < block.count; i++) {
      block.isChange(i, history);
      sum += block.digestAt(i);
    }
    block.release();
    yield;
  }
  if (recordCount !== list.recordCount || sumText(sum) !== list.recordsSum)
    throw damaged(`the ${layout.name} of "${organizationId}" are not those that were written or copied`);
  return { ...list, recordBytes, textBytes, listElements, digest: digest.finish() };
}

function writeManifest(database: Database.Database, manifest: DigestedManifest): void {
  const { snapshotId, producedAt, permits, ancestors, organizations } = manifest;
  const insertAncestor = database.prepare('INSERT INTO ancestors VALUES (?, ?)');
  const insertOrganization = database.prepare('INSERT INTO organizations VALUES (?, ?, ?, ?)');
  const insertList = database.prepare(
    `INSERT INTO lists VALUES (:organizationId, :name, :recordCount, :recordBytes, :textBytes, :listElements,
       :longestRow, :recordsSum, :digest)`,
  );
  for (const one of ancestors) insertAncestor.run(one.snapshotId, one.producedAt);
  for (const { organizationId, name, since, deletionsDigest: deleted, lists } of organizations) {
    insertOrganization.run(organizationId, name, since, deleted);
    for (const layout of COLLECTIONS) {
      const { [layout.name]: list } = lists;
      if (list.recordCount > 0) insertList.run({ organizationId, name: layout.name, ...list });
    }
  }
  database
    .prepare('INSERT INTO snapshot VALUES (?, ?, ?, ?, ?)')
    .run(snapshotId, producedAt, ...permitValues(permits), manifestDigest(manifest));
}
