import { parseTimestamp } from '../contract/timestamp.ts';
import { COLLECTIONS } from './format/layout.ts';
import type { Manifest } from './format/manifest.ts';
import { declaredCounts } from './record-counts.ts';
import type { RecordCounts } from './record-counts.ts';
import { RefusedSnapshot } from './format/refused-snapshot.ts';

/** What is known of an organization before another snapshot brings it. */
export interface Predecessor {
  /** ISO 8601. */
  readonly producedAt: string;
  readonly counts: RecordCounts;
}

/** A collection that keeps at least this part of its records may go live without leave. */
const LEAST_KEPT = 0.5;

/**
 * Whether a snapshot may take the place of others: it may not be older, lose an organization, or lose more than
 * half of a collection, but with the leave that it was published with.
 *
 * @param predecessors by organization: those that the snapshot replaces
 * @throws RefusedSnapshot
 */
export function checkSuccession(next: Manifest, predecessors: ReadonlyMap<string, Predecessor>): void {
  if (!next.permits.includes('rollback')) checkAge(next, predecessors);
  if (!next.permits.includes('shrink')) checkCounts(next, predecessors);
}

function checkAge({ producedAt }: Manifest, predecessors: ReadonlyMap<string, Predecessor>): void {
  const produced = instantOf(producedAt);
  for (const [organizationId, predecessor] of predecessors) {
    if (produced >= instantOf(predecessor.producedAt)) continue;
    throw new RefusedSnapshot(
      'older',
      `it was produced at ${producedAt}, and what it would replace of organization "${organizationId}" at ` +
        `${predecessor.producedAt}; to go back on purpose, publish it with --rollback`,
    );
  }
}

function checkCounts({ organizations }: Manifest, predecessors: ReadonlyMap<string, Predecessor>): void {
  const declared = new Map(organizations.map((next) => [next.organizationId, declaredCounts(next)]));
  for (const [organizationId, { counts }] of predecessors) {
    const next = declared.get(organizationId);
    if (next === undefined) {
      throw new RefusedSnapshot(
        'organization-gone',
        `organization "${organizationId}" is in what it would replace, and not in it; if that is to go, publish it with --allow-shrink`,
      );
    }
    for (const { name: collection } of COLLECTIONS) {
      const [before, after] = [counts[collection], next[collection]];
      if (after >= before * LEAST_KEPT) continue;
      throw new RefusedSnapshot(
        'shrunk',
        `organization "${organizationId}" has ${after} ${collection} in it, and ${before} in what it would replace; ` +
          'if so many are to go, publish it with --allow-shrink',
      );
    }
  }
}

function instantOf(producedAt: string): bigint {
  const instant = parseTimestamp(producedAt);
  if (instant === undefined) throw new TypeError(`not a timestamp: ${producedAt}`);
  return instant;
}
