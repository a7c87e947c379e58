import { collectionOf, type OrganizationImage } from '../../store/organization-image.ts';
import { byCollection, COLLECTIONS } from './layout.ts';
import { declaredCounts, instantOf, type Manifest, type RecordCounts } from './manifest.ts';
import { type RefusalReason, RefusedSnapshot } from './refused-snapshot.ts';

/** The snapshot of an organization that another snapshot would replace. */
interface Predecessor {
  readonly organizationId: string;
  readonly snapshotId: string;
  /** ISO 8601. */
  readonly producedAt: string;
  readonly counts: RecordCounts;
}

/** Share of a collection's records that a snapshot must keep without the permit to shrink. */
const MIN_KEPT = 0.5;
/** Records that a collection must have had for a loss to count. Few organizations have as many events or offers. */
const MIN_COUNTED = 500;

/**
 * Refuses a snapshot that is older or much smaller than its predecessors. A permit of the snapshot skips the
 * corresponding check. The build of a snapshot has compared it with its ancestors.
 */
export function checkSuccession(next: Manifest, predecessors: readonly Predecessor[]): void {
  if (!next.permits.includes('rollback')) for (const one of predecessors) checkAge(next.producedAt, one);
  if (next.permits.includes('shrink')) return;
  const known = new Set(next.ancestors.map(({ snapshotId }) => snapshotId));
  const unrelated = predecessors.filter(({ snapshotId }) => !known.has(snapshotId));
  const counts = new Map(unrelated.map((one) => [one.organizationId, one.counts]));
  for (const { refusal } of lossesOf(counts, next)) throw refusal;
}

function checkAge(next: string, { organizationId, producedAt }: Predecessor): void {
  if (instantOf(next) >= instantOf(producedAt)) return;
  throw new RefusedSnapshot(
    'older',
    `it was produced at ${next}, and the snapshot that it would replace for organization "${organizationId}" ` +
      `at ${producedAt}; to roll back, publish it with --rollback`,
  );
}

/**
 * Yields a refusal for each organization that is gone, has no record any more, or lost more than half of a collection. A
 * small collection counts only if that of all organizations is large, and lost more than half as well.
 * @param earlier numbers of records by organization
 */
export function* lossesOf(earlier: ReadonlyMap<string, RecordCounts>, { organizations }: Manifest) {
  const next = new Map(organizations.map((one) => [one.organizationId, declaredCounts(one)]));
  const isLost = (before: number, after: number) => after < before * MIN_KEPT;
  const totals = byCollection(() => ({ before: 0, after: 0 }));
  for (const [organizationId, counts] of earlier) {
    for (const { name } of COLLECTIONS) {
      totals[name].before += counts[name];
      totals[name].after += next.get(organizationId)?.[name] ?? 0;
    }
  }
  for (const [organizationId, counts] of earlier) {
    const refused = (reason: RefusalReason, message: string) => ({
      organizationId,
      refusal: new RefusedSnapshot(reason, `${message}; to remove them, permit it with --allow-shrink`),
    });
    const kept = next.get(organizationId);
    if (kept === undefined) {
      const records = `organization "${organizationId}" of the snapshot that it would replace, with its records`;
      yield refused('organization-gone', `it lacks ${records}`);
      continue;
    }
    const isEmpty = COLLECTIONS.every(({ name }) => kept[name] === 0);
    const lost = COLLECTIONS.find(({ name }) => {
      const { before, after } = totals[name];
      const isCounted = counts[name] >= MIN_COUNTED || (before >= MIN_COUNTED && isLost(before, after));
      return (isCounted || isEmpty) && isLost(counts[name], kept[name]);
    });
    if (lost === undefined) continue;
    const found = `${kept[lost.name]} ${lost.name} of organization "${organizationId}"`;
    const former = `the snapshot that it would replace has ${counts[lost.name]}`;
    yield refused('shrunk', `it has ${found}, and ${former}`);
  }
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
