import { monotonicNow } from '../../clock.ts';
import { bytesOf, runsIn, sectionsOf } from '../../store/organization-image.ts';
import { latestUsedFirst, type StoreRegistry } from '../../store/registry/store-registry.ts';
import { contentOf, type KnownContent } from '../../store/registry/store-view.ts';
import { instantOf, type Manifest } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { checkSuccession, loadedCounts } from '../format/succession.ts';
import { bytesInUse, checkMemory, type MemoryLimit, memoryNeed, objectBytes } from './memory.ts';

/** Decides which snapshots may be loaded, and which retained sections stay in memory during the next load. */
export class Admission {
  readonly #stores: StoreRegistry;
  readonly #limit: MemoryLimit;
  readonly #threads: number;
  /** By snapshot id: bytes that the load of a snapshot needs. The next one of the file is about as large. */
  readonly #needs = new Map<string, number>();

  constructor(stores: StoreRegistry, limit: MemoryLimit, threads: number) {
    this.#stores = stores;
    this.#limit = limit;
    this.#threads = threads;
  }

  /**
   * Admits declared content that may go live alongside the other files. Releases retained sections if memory is short.
   * @returns the content in memory that the load may share
   * @param isStart whether it may take over the organizations of files that were produced earlier
   * @throws RefusedSnapshot
   */
  admit(file: string, manifest: Manifest, isStart = false): KnownContent {
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
    // A retained section may be released during the load.
    const live = replaced.flatMap(({ store: { organizationId, ...store } }) =>
      sectionsOf(store).map((image) => ({ organizationId, image })),
    );
    const need = memoryNeed(manifest.organizations, contentOf(live));
    // The live sections stay during the load.
    checkMemory(need, this.#liveBytes(), this.#limit);
    const snapshots = this.#liveSnapshots();
    for (const snapshotId of this.#needs.keys())
      if (!snapshots.has(snapshotId)) this.#needs.delete(snapshotId);
    this.#needs.set(manifest.snapshotId, need.peak);
    this.makeRoom(need.peak);
    const declared = new Set(manifest.organizations.map(({ organizationId }) => organizationId));
    const retained = this.#stores.retained.filter((one) => declared.has(one.organizationId));
    return contentOf([...live, ...retained]);
  }

  /** Bytes that retained sections may hold. The rest is for live stores, and for the next load of the largest file. */
  get retainableBytes(): number {
    const objects = objectBytes(this.#stores.retained.length, this.#threads);
    return Math.max(0, this.#roomLeft(this.#nextNeed()) - objects);
  }

  /** Releases the retained sections that leave too little memory for a load, the last of `latestUsedFirst` first. */
  makeRoom(need = this.#nextNeed()): void {
    let room = this.#roomLeft(need);
    const held = new Map(this.#stores.liveRuns);
    const kept = latestUsedFirst(this.#stores.retained, monotonicNow()).filter(({ image }) => {
      const bytes = bytesOf([image], held) + objectBytes(1, this.#threads);
      // One that does not fit in any case must not cost the others their room.
      if (bytes > room) return false;
      room -= bytes;
      for (const [key, run] of runsIn([image])) held.set(key, run);
      return true;
    });
    this.#stores.retainOnly(kept);
  }

  #liveSnapshots(): Set<string> {
    return new Set(this.#stores.live.values().map(({ store }) => store.snapshotId));
  }

  #nextNeed(): number {
    const needs = Array.from(this.#liveSnapshots(), (snapshotId) => this.#needs.get(snapshotId) ?? 0);
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
