import type Database from 'better-sqlite3';
import type { CollectionName } from '../../contract/operations.ts';
import type { Instant } from '../../contract/timestamp.ts';
import { type CollectionLayout, COLLECTIONS } from '../format/layout.ts';
import {
  type DeclaredList,
  deletionsDigest,
  type DigestedManifest,
  instantOf,
  manifestDigest,
  type ManifestOrganization,
  permitValues,
} from '../format/manifest.ts';
import { damaged } from '../format/refused-snapshot.ts';
import { ListDigest, sumText } from '../format/schema.ts';
import { Block } from '../load/block.ts';
import { BlockReader } from '../load/block-reader.ts';

/** An organization whose records are written. Its lists have all but the digest, and but the bytes in a whole file. */
export interface WrittenOrganization extends Pick<ManifestOrganization, 'organizationId' | 'name' | 'since'> {
  readonly lists: Record<CollectionName, DeclaredList>;
}

/**
 * Reads the records back, and writes the manifest. Pauses after each step.
 * @throws RefusedSnapshot when the file does not have the records, or a whole one not the sums, or has a change at another time than
 *   that of a snapshot
 */
export function* completeSnapshot(
  database: Database.Database,
  snapshot: Omit<DigestedManifest, 'organizations'>,
  written: readonly WrittenOrganization[],
): Generator<undefined, void> {
  const isWhole = snapshot.changesSince === '';
  const reader = new BlockReader(database, !isWhole);
  const times = new Set([...snapshot.ancestors, snapshot].map((one) => instantOf(one.producedAt)));
  const organizations: DigestedManifest['organizations'][number][] = [];
  for (const organization of written) {
    const { organizationId } = organization;
    const lists = { ...organization.lists };
    for (const layout of COLLECTIONS) {
      const { [layout.name]: list } = lists;
      if (list.recordCount > 0)
        lists[layout.name] = yield* measure(reader, layout, organization, list, times, isWhole);
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
 * Returns a list with its digest, in a whole file also with its bytes.
 * @param times of the snapshots since which all changes are known
 */
function* measure(
  reader: BlockReader,
  layout: CollectionLayout,
  { organizationId, since }: WrittenOrganization,
  list: DeclaredList,
  times: ReadonlySet<Instant>,
  isWhole: boolean,
): Generator<undefined, DeclaredList> {
  const [earliest] = times;
  const began = instantOf(since);
  const history = { since: earliest > began ? earliest : began, times };
  const digest = new ListDigest(!isWhole);
  let [rowCount, recordBytes, textBytes, listElements, sum] = [0, 0, 0, 0, 0n];
  for (const stored of reader.read(layout, organizationId, list)) {
    digest.add(stored);
    const block = new Block(layout, stored);
    rowCount += block.count;
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
  if (rowCount !== list.rowCount || (isWhole && sumText(sum) !== list.recordsSum))
    throw damaged(`the ${layout.name} of "${organizationId}" are not those that were written or copied`);
  const measured = { ...list, digest: digest.finish() };
  return isWhole ? { ...measured, recordBytes, textBytes, listElements } : measured;
}

function writeManifest(database: Database.Database, manifest: DigestedManifest): void {
  const { snapshotId, producedAt, epoch, changesSince, permits, ancestors, organizations } = manifest;
  const insertAncestor = database.prepare('INSERT INTO ancestors VALUES (?, ?)');
  const insertOrganization = database.prepare('INSERT INTO organizations VALUES (?, ?, ?, ?)');
  const insertList = database.prepare(
    `INSERT INTO lists VALUES (:organizationId, :name, :rowCount, :recordCount, :recordBytes, :textBytes, :listElements,
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
    .prepare('INSERT INTO snapshot VALUES (?, ?, ?, ?, ?, ?, ?)')
    .run(snapshotId, producedAt, epoch, changesSince, ...permitValues(permits), manifestDigest(manifest));
}
