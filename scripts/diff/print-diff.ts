import { COLLECTIONS } from '../../src/snapshot/format/layout.ts';
import { print } from '../terminal/print.ts';
import { indented, left, right, table } from '../terminal/table.ts';
import { count } from '../terminal/units.ts';
import type { OrganizationDiff, RecordsDiff, SnapshotDiff } from './diff-snapshots.ts';

/** Number of ids of a kind that are printed without `--all`. */
const SHOWN = 20;

/** Prints a diff: for each organization that differs, record counts and ids. */
export function printDiff({ before, after, organizations }: SnapshotDiff, all: boolean): void {
  print(`from snapshot ${before.snapshotId}, produced at ${before.producedAt}`);
  print(`to   snapshot ${after.snapshotId}, produced at ${after.producedAt}`);
  const inState = (wanted: OrganizationDiff['state']) =>
    `${count(organizations.filter(({ state }) => state === wanted).length)} ${wanted}`;
  const states = ['added', 'removed', 'changed', 'unchanged'] as const;
  print(`organizations: ${states.map(inState).join(', ')}`);
  for (const organization of organizations) {
    if (organization.state === 'unchanged') continue;
    print(`\n${organization.organizationId}: ${organization.state}`);
    print(indented(tableOf(organization)));
    if (organization.state !== 'changed') continue;
    for (const { name } of COLLECTIONS) printList(name, organization.records[name], all);
  }
}

function tableOf(organization: Exclude<OrganizationDiff, { state: 'unchanged' }>): string {
  const titles = [
    'BEFORE',
    'AFTER',
    ...(organization.state === 'changed' ? ['ADDED', 'CHANGED', 'REMOVED'] : []),
  ];
  const rows = COLLECTIONS.map(({ name }) => {
    const counts = [
      organization.state === 'added' ? 0 : organization.before[name],
      organization.state === 'removed' ? 0 : organization.after[name],
    ];
    if (organization.state === 'changed') {
      const { added, changed, removed } = organization.records[name];
      counts.push(added.length, changed.length, removed.length);
    }
    return [name, ...counts.map(count)];
  });
  return table([left(''), ...titles.map(right)], rows);
}

/** Prints ids as JSON texts, one per line, since an id may contain any character. */
function printList(list: string, diff: RecordsDiff, all: boolean): void {
  for (const kind of ['added', 'changed', 'removed'] as const) {
    const items = diff[kind];
    if (items.length === 0) continue;
    print(indented(`${list} ${kind} (${count(items.length)}):`));
    for (const item of all ? items : items.slice(0, SHOWN)) print(`    ${JSON.stringify(item)}`);
    if (!all && items.length > SHOWN)
      print(`    … and ${count(items.length - SHOWN)} more (--all shows them)`);
  }
}
