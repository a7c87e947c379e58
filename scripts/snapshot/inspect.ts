import type { Command } from 'commander';
import { memoryNeed, plannedMemory } from '../../src/snapshot/admission/memory.ts';
import type { CollectionName } from '../../src/contract/operations.ts';
import { byCollection, COLLECTIONS } from '../../src/snapshot/format/layout.ts';
import { asRefusal } from '../../src/snapshot/format/snapshot-file.ts';
import { declaredCounts, instantOf, type ManifestOrganization } from '../../src/snapshot/format/manifest.ts';
import { inspectSnapshot, openSnapshot } from '../../src/snapshot/format/open-snapshot.ts';
import { reviewSnapshot } from '../../src/snapshot/builder/review-snapshot.ts';
import { JSON_OPTION } from '../run-command.ts';
import { print } from '../terminal/print.ts';
import { left, right, table } from '../terminal/table.ts';
import { count, size } from '../terminal/units.ts';
import { onFile, printResult, printWarnings, readFile } from './snapshot-file.ts';

export function addInspect(program: Command): void {
  program
    .command('inspect')
    .description('Shows the organizations, record counts and warnings of a snapshot file.')
    .argument('<file>', 'snapshot file')
    .option(...JSON_OPTION)
    .action(inspect);
}

function inspect(file: string, { json }: { json?: true }): void {
  const { snapshotId, producedAt, permits, organizations } = onFile(file, () => inspectSnapshot(file));
  const history = onFile(file, () => readHistory(file));
  const need = memoryNeed(organizations);
  const memory = {
    dataBytes: need.held,
    loadBytes: need.peak,
    refreshBytes: memoryNeed(organizations, new Set(), 0).peak,
    plannedBytes: plannedMemory([need]),
  };
  const described = organizations.map((one) => ({
    organizationId: one.organizationId,
    name: one.name,
    records: declaredCounts(one),
  }));
  const findWarnings = () => readFile(file, 'reviewing', (onProgress) => reviewSnapshot(file, onProgress));
  printResult(json, {
    file,
    snapshotId,
    producedAt,
    more: { memory, permits, history, organizations: described, warnings: json && findWarnings() },
    line: 'snapshot',
    shown: {
      memory: Object.entries(memory)
        .map(([name, bytes]) => `${name.replace('Bytes', '')} ${size(bytes)}`)
        .join(', '),
      history: describe(history),
      ...(permits.length > 0 && { permits: permits.join(', ') }),
    },
  });
  if (json) return;
  const names = organizations.map(({ organizationId, name }) => [organizationId, name]);
  print(`\n${table([left('ORGANIZATION'), left('NAME')], names)}`);
  print(`\n${countsOf(organizations)}`);
  printWarnings(findWarnings());
}

/** The snapshots from which copies can be continued, and the changes since the latest of them. */
interface SnapshotHistory {
  readonly snapshots: number;
  /** Production time of the earliest one, ISO 8601; null without any. */
  readonly since: string | null;
  /** Numbers of records that were added or changed, and that are gone. */
  readonly changed: Readonly<Record<CollectionName, number>>;
  readonly deleted: number;
}

/**
 * Reads the history of a snapshot file, without a check of its digests.
 * @throws RefusedSnapshot
 */
export function readHistory(path: string): SnapshotHistory {
  using snapshot = openSnapshot(path);
  const { database, manifest } = snapshot.latest;
  const { ancestors, producedAt, organizations } = manifest;
  // In a damaged tree, a table may have any number of rows.
  const count = (table: string, column: string, rows: number): number =>
    database
      .prepare<[bigint, number], number>(
        `SELECT total(${column} = ?) FROM (SELECT ${column} FROM ${table} LIMIT ?)`,
      )
      .pluck()
      .get(instantOf(producedAt), rows) ?? 0;
  const sumOf = (of: (organization: ManifestOrganization) => number) =>
    organizations.reduce((sum, one) => sum + of(one), 0);
  try {
    const changed = byCollection(({ name }) =>
      count(
        name,
        'changed_at',
        sumOf(({ lists }) => lists[name].rowCount),
      ),
    );
    const deleted = count(
      'deletions',
      'deleted_at',
      sumOf(({ deletionCount }) => deletionCount),
    );
    return { snapshots: ancestors.length, since: ancestors.at(0)?.producedAt ?? null, changed, deleted };
  } catch (error) {
    throw asRefusal(error);
  }
}

function describe({ snapshots, since, changed, deleted }: SnapshotHistory): string {
  if (since === null) return 'begins with this snapshot';
  const records = Object.values(changed).reduce((sum, one) => sum + one, 0);
  return `since ${since}, snapshots: ${count(snapshots)}; since the latest, ${count(records)} records changed and ${count(deleted)} are gone`;
}

/** Returns the record counts: a table with a line for each organization, and a last line with the sums of several. */
function countsOf(organizations: readonly ManifestOrganization[]): string {
  const columns = [left('ORGANIZATION'), ...COLLECTIONS.map(({ name }) => right(name.toUpperCase()))];
  const rows = organizations.map(({ organizationId, lists }) => [
    organizationId,
    ...COLLECTIONS.map(({ name }) => count(lists[name].recordCount)),
  ]);
  if (organizations.length > 1) {
    const sums = COLLECTIONS.map(({ name }) =>
      organizations.reduce((sum, { lists }) => sum + lists[name].recordCount, 0),
    );
    rows.push([`${count(organizations.length)} organizations`, ...sums.map(count)]);
  }
  return table(columns, rows);
}
