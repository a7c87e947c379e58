import { collectionOf, type OrganizationImage } from '../../store/organization-image.ts';
import { byCollection, COLLECTIONS } from './layout.ts';
import { declaredCounts, instantOf, type Manifest, type RecordCounts } from './manifest.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';

/** The snapshot of an organization that another snapshot would replace. */
interface Predecessor {
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
  const declared = new Map(next.organizations.map((one) => [one.organizationId, declaredCounts(one)]));
  for (const predecessor of predecessors) {
    if (!next.permits.includes('rollback')) checkAge(next.producedAt, predecessor);
    if (!next.permits.includes('shrink')) checkCounts(declared.get(predecessor.organizationId), predecessor);
  }
}

function checkAge(next: string, { organizationId, producedAt }: Predecessor): void {
  if (instantOf(next) >= instantOf(producedAt)) return;
  throw new RefusedSnapshot(
    'older',
    `it was produced at ${next}, and the snapshot that it would replace for organization "${organizationId}" ` +
      `at ${producedAt}; to roll back, publish it with --rollback`,
  );
}

function checkCounts(next: RecordCounts | undefined, { organizationId, counts }: Predecessor): void {
  if (next === undefined) {
    throw new RefusedSnapshot(
      'organization-gone',
      `it lacks organization "${organizationId}" of the snapshot that it would replace; ` +
        'to remove the organization, publish it with --allow-shrink',
    );
  }
  const shrunk = COLLECTIONS.find(({ name }) => next[name] < counts[name] * MIN_KEPT);
  if (shrunk === undefined) return;
  throw new RefusedSnapshot(
    'shrunk',
    `it has ${next[shrunk.name]} ${shrunk.name} of organization "${organizationId}", and the snapshot that it ` +
      `would replace has ${counts[shrunk.name]}; to remove the records, publish it with --allow-shrink`,
  );
}

export function loadedCounts(image: OrganizationImage): RecordCounts {
  return byCollection(({ name }) => collectionOf(image, name).count);
}

/** Time by which the clocks of machines may differ. */
export const MAX_AHEAD_MS = 5 * 60_000;

/** Returns a warning about a production time ahead of the clock; undefined when there is none. */
export function aheadOfClock(producedAt: string, now: number): string | undefined {
  if (Date.parse(producedAt) <= now + MAX_AHEAD_MS) return undefined;
  return (
    `its production time, ${producedAt}, is more than 5 minutes ahead of the clock, and until then later snapshots ` +
    'are refused as older: check the clocks, then publish a snapshot of the right time with --rollback'
  );
}
