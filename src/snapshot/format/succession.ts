import { parseTimestamp } from '../../contract/timestamp.ts';
import { COLLECTIONS } from './layout.ts';
import { declaredCounts, type Manifest, type RecordCounts } from './manifest.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';

/** The snapshot of an organization that another snapshot would replace. */
export interface Predecessor {
  readonly organizationId: string;
  /** ISO 8601. */
  readonly producedAt: string;
  readonly counts: RecordCounts;
}

/** Share of a collection's records that a snapshot must keep to go live without the permit to shrink. */
const MIN_KEPT = 0.5;

/**
 * Refuses a snapshot that is older or much smaller than its predecessors.
 * It keeps their organizations and half of each collection. A permit of the snapshot skips the corresponding check.
 */
export function checkSuccession(next: Manifest, predecessors: readonly Predecessor[]): void {
  if (!next.permits.includes('rollback')) checkAge(next, predecessors);
  if (!next.permits.includes('shrink')) checkCounts(next, predecessors);
}

function checkAge(next: Manifest, predecessors: readonly Predecessor[]): void {
  const produced = instantOf(next.producedAt);
  for (const { organizationId, producedAt } of predecessors) {
    if (produced >= instantOf(producedAt)) continue;
    throw new RefusedSnapshot(
      'older',
      `it was produced at ${next.producedAt}, and the snapshot that it would replace for organization ` +
        `"${organizationId}" at ${producedAt}; to roll back, publish it with --rollback`,
    );
  }
}

function checkCounts({ organizations }: Manifest, predecessors: readonly Predecessor[]): void {
  const declared = new Map(organizations.map((next) => [next.organizationId, declaredCounts(next)]));
  for (const { organizationId, counts } of predecessors) {
    const next = declared.get(organizationId);
    if (next === undefined) {
      throw new RefusedSnapshot(
        'organization-gone',
        `it lacks organization "${organizationId}" of the snapshot that it would replace; ` +
          'to remove the organization, publish it with --allow-shrink',
      );
    }
    for (const { name } of COLLECTIONS) {
      if (next[name] >= counts[name] * MIN_KEPT) continue;
      throw new RefusedSnapshot(
        'shrunk',
        `it has ${next[name]} ${name} of organization "${organizationId}", and the snapshot that it would ` +
          `replace has ${counts[name]}; to remove the records, publish it with --allow-shrink`,
      );
    }
  }
}

function instantOf(producedAt: string): bigint {
  const instant = parseTimestamp(producedAt);
  if (instant === undefined) throw new TypeError(`not a timestamp: ${producedAt}`);
  return instant;
}
