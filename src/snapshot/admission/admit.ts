import { monotonicNow } from '../../clock.ts';
import {
  collectionOf,
  lastUseOf,
  type ListImage,
  memoryOf,
  type SectionImage,
  sharedRecordsOf,
  type SharedNumbers,
} from '../../store/organization-image.ts';
import { latestUsedFirst } from '../../store/registry/retention.ts';
import type { StoreRegistry } from '../../store/registry/store-registry.ts';
import { type Admitted, keyOf, type KnownList } from '../../store/registry/store-view.ts';
import { COLLECTIONS } from '../format/layout.ts';
import { instantOf, type Manifest, type ManifestOrganization } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { checkSuccession, loadedCounts } from '../format/succession.ts';
import {
  bytesInUse,
  checkMemory,
  type MemoryLimit,
  type MemoryNeed,
  memoryNeed,
  objectBytes,
} from './memory.ts';

/** Decides which snapshots may be loaded, and which retained sections stay in memory during the next load. */
export class Admission {
  readonly #stores: StoreRegistry;
  readonly #limit: MemoryLimit;
  readonly #threads: number;
  /** By snapshot id: what the load of a snapshot needs. The next one of the file needs about as much. */
  readonly #needs = new Map<string, MemoryNeed>();

  constructor(stores: StoreRegistry, limit: MemoryLimit, threads: number) {
    this.#stores = stores;
    this.#limit = limit;
    this.#threads = threads;
  }

  /**
   * Admits declared content that may go live alongside the other files. Releases retained sections if memory is short.
   * @param isStart whether it may take over the organizations of files that were produced earlier
   * @param bytesToCopy bytes of the records that are not live. Where all records do not fit, the snapshot is not admitted
   *   without them
   * @returns lists in memory whose records the load may share
   * @throws RefusedSnapshot
   */
  admit(file: string, manifest: Manifest, isStart = false, bytesToCopy?: number): Admitted {
    const now = monotonicNow();
    const replaced = this.#stores.replacedBy(file, manifest.organizations);
    const ofOthers = replaced.filter((one) => one.isFilePresent && one.file !== file);
    for (const { store, file: owner } of ofOthers) {
      if (isStart && instantOf(manifest.producedAt) > instantOf(store.producedAt)) continue;
      throw new RefusedSnapshot(
        'conflict',
        `organization "${store.organizationId}" is already served from ${owner}; an organization may be in one file only`,
      );
    }
    const predecessors = replaced
      .filter((one) => !ofOthers.includes(one))
      .map(({ store }) => ({ ...store, counts: loadedCounts(store) }));
    checkSuccession(manifest, predecessors);
    // The live sections stay during the load. A retained section may be released.
    const ancestors = historyOf(manifest);
    const live = replaced.flatMap(({ store: { organizationId, lists, history, snapshotId } }) =>
      Object.values(lists)
        .filter(isShared)
        .map((image): KnownList => {
          const { until, changes } = history;
          const known = ancestors.has(snapshotId) ? { until, changes } : undefined;
          // One that a walk uses is retained at the swap.
          return { organizationId, image, stays: lastUseOf(image, now) > 0, history: known };
        }),
    );
    const kept = new Set(live.map(({ organizationId, image }) => keyOf(organizationId, image)));
    const declared = new Set(manifest.organizations.map(({ organizationId }) => organizationId));
    const retainedLists = () =>
      latestUsedFirst(this.#stores.retained, now).flatMap(({ organizationId, image }): KnownList[] =>
        declared.has(organizationId) && isShared(image) ? [{ organizationId, image, stays: true }] : [],
      );
    const sharing = [...live, ...retainedLists()].map(({ image }) => image);
    const needOf = (bytes?: number) => memoryNeed(manifest.organizations, kept, bytes, sharing);
    const need = needOf(bytesToCopy);
    const { retained, retainedBytes } = this.#stores;
    const beside = retainedBytes + objectBytes(retained.length, this.#threads);
    const depends = need.peak > this.#roomLeft(beside) && needOf(0).peak <= this.#roomLeft(0);
    if (depends && bytesToCopy === undefined && live.length > 0) return { known: live, isAdmitted: false };
    checkMemory(need, this.#liveBytes(), this.#limit);
    const snapshots = this.#liveSnapshots();
    for (const snapshotId of this.#needs.keys())
      if (!snapshots.has(snapshotId)) this.#needs.delete(snapshotId);
    this.#needs.set(manifest.snapshotId, need);
    this.makeRoom(need.peak);
    const same = manifest.changesSince === '' ? undefined : this.#sameOrganizations(file, manifest);
    return { known: [...live, ...retainedLists()], same, isAdmitted: true };
  }

  /** Returns the live organizations of a file whose records are the declared ones, if the snapshot descends from theirs. */
  #sameOrganizations(file: string, manifest: Manifest): Admitted['same'] {
    const { organizations } = manifest;
    const isAncestor = historyOf(manifest);
    const isSame = ({ organizationId, lists }: ManifestOrganization) => {
      const live = this.#stores.live.get(organizationId);
      if (live?.file !== file || !isAncestor.has(live.store.snapshotId)) return false;
      return COLLECTIONS.every(
        ({ name }) => collectionOf(live.store, name).recordsSum === lists[name].recordsSum,
      );
    };
    const organizationIds = organizations.filter(isSame).map(({ organizationId }) => organizationId);
    if (organizationIds.length === 0) return undefined;
    // All organizations of a file have the history of one snapshot.
    const { until } = this.#stores.live.get(organizationIds[0])?.store.history ?? {};
    return until === undefined ? undefined : { until, organizationIds: new Set(organizationIds) };
  }

  /** Notes the bytes that the swap of a snapshot has added, in place of the estimate. */
  noteSwap(snapshotId: string, held: number): void {
    const need = this.#needs.get(snapshotId);
    if (need !== undefined)
      this.#needs.set(snapshotId, { ...need, held, peak: need.peak - need.held + held });
  }

  /** Bytes that retained sections may hold. The rest is for live stores, and for the next load of the largest file. */
  get retainableBytes(): number {
    const objects = objectBytes(this.#stores.retained.length, this.#threads);
    return Math.max(0, this.#roomLeft(this.#nextNeed()) - objects);
  }

  /** Releases the retained sections that leave too little memory for a load, the last of `latestUsedFirst` first. */
  makeRoom(need = this.#nextNeed()): void {
    const { live, retained, retainedBytes } = this.#stores;
    let room = this.#roomLeft(need);
    if (retainedBytes + objectBytes(retained.length, this.#threads) <= room) return;
    const held = new Map<string, SharedNumbers>();
    const kept = latestUsedFirst(retained, monotonicNow()).filter(({ organizationId, image }) => {
      const beside = held.get(organizationId) ?? live.get(organizationId)?.memory.numbers;
      const { bytes, numbers } = memoryOf([image], beside);
      const added = bytes + objectBytes(1, this.#threads);
      // One that does not fit in any case must not cost the others their room.
      if (added > room) return false;
      room -= added;
      held.set(organizationId, numbers);
      return true;
    });
    this.#stores.retainOnly(kept);
  }

  #liveSnapshots(): Set<string> {
    return new Set(this.#stores.live.values().map(({ store }) => store.snapshotId));
  }

  #nextNeed(): number {
    const needs = Array.from(this.#liveSnapshots(), (snapshotId) => this.#needs.get(snapshotId)?.peak ?? 0);
    return Math.max(0, ...needs);
  }

  #roomLeft(need: number): number {
    return this.#limit.bytes - this.#liveBytes() - need;
  }

  #liveBytes(): number {
    const { live, liveBytes } = this.#stores;
    return bytesInUse(liveBytes, live.size, this.#threads);
  }
}

/** Returns whether a section is a list whose records other images may share. The others are small. */
function isShared(section: SectionImage): section is ListImage {
  return sharedRecordsOf(section).length > 0;
}

/** Returns the ids of the ancestors of a snapshot, and its own: it may be live already, in other files. */
function historyOf({ ancestors, snapshotId }: Manifest): ReadonlySet<string> {
  return new Set([...ancestors.map((one) => one.snapshotId), snapshotId]);
}
