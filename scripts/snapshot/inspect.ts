import type { Command } from 'commander';
import { memoryNeed, plannedMemory } from '../../src/snapshot/admission/memory.ts';
import type { CollectionName } from '../../src/contract/operations.ts';
import { byCollection, COLLECTIONS } from '../../src/snapshot/format/layout.ts';
import { asRefusal, openSnapshot } from '../../src/snapshot/format/snapshot-file.ts';
import { type ManifestOrganization, rowCount } from '../../src/snapshot/format/manifest.ts';
import { inspectSnapshot } from '../../src/snapshot/load/read-snapshot.ts';
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
  const described = organizations.map(({ organizationId, name, runs }) => ({
    organizationId,
    name,
    records: Object.fromEntries(COLLECTIONS.map((list) => [list.name, rowCount(runs[list.name])])),
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
  const { database, manifest } = snapshot;
  const { ancestors, producedAt } = manifest;
  const count = (sql: string, value: string): number =>
    database.prepare<[string], number>(sql).pluck().get(value) ?? 0;
  try {
    // The other elements of a repeated text are the position of the first one.
    const changed = byCollection(({ table }) =>
      count(
        `SELECT count(*) FROM (SELECT nullif(changed_at, '') AS times FROM ${table}),
                json_each(times) AS first, json_each(times) AS element
         WHERE first.value = ? AND (element.key = first.key OR element.type = 'integer' AND element.value = first.key)`,
        producedAt,
      ),
    );
    const deleted = count('SELECT count(*) FROM deletions WHERE deleted_at = ?', producedAt);
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
  const rows = organizations.map(({ organizationId, runs }) => [
    organizationId,
    ...COLLECTIONS.map((list) => count(rowCount(runs[list.name]))),
  ]);
  if (organizations.length > 1) {
    const sums = COLLECTIONS.map((list) =>
      organizations.reduce((sum, { runs }) => sum + rowCount(runs[list.name]), 0),
    );
    rows.push([`${count(organizations.length)} organizations`, ...sums.map(count)]);
  }
  return table(columns, rows);
}
