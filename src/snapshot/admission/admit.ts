import { monotonicNow } from '../../clock.ts';
import { sectionsOf } from '../../store/organization-image.ts';
import {
  latestUsedFirst,
  type RetainedSection,
  type StoreRegistry,
} from '../../store/registry/store-registry.ts';
import { loadedCounts, type Manifest } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { checkSuccession, type Predecessor } from '../format/succession.ts';
import { bytesInUse, checkMemory, type MemoryLimit, memoryNeed, storedBytes } from './memory.ts';

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
   * @throws RefusedSnapshot
   */
  admit(file: string, manifest: Manifest): void {
    for (const { organizationId } of manifest.organizations) {
      const owner = this.#stores.otherOwner(file, organizationId);
      if (owner === undefined) continue;
      throw new RefusedSnapshot(
        'conflict',
        `organization "${organizationId}" is already served from ${owner}; an organization may be in one file only`,
      );
    }
    checkSuccession(manifest, this.#replacedBy(file, manifest));
    const need = memoryNeed(manifest.organizations);
    // The live sections stay during the load.
    checkMemory(need, this.#liveBytes(), this.#limit);
    const live = this.#liveSnapshots();
    for (const snapshotId of this.#needs.keys()) if (!live.has(snapshotId)) this.#needs.delete(snapshotId);
    this.#needs.set(manifest.snapshotId, need.peak);
    this.makeRoom(need.peak);
  }

  /** Bytes that retained sections may hold. The rest is for live stores, and for the next load of the largest file. */
  get retainableBytes(): number {
    const { retained, retainedBytes } = this.#stores;
    return Math.max(0, this.#roomBeside(this.#nextNeed()) - (this.#bytesOf(retained) - retainedBytes));
  }

  /** Releases the retained sections that leave too little memory for a load, the longest unused first. */
  makeRoom(need = this.#nextNeed()): void {
    const { retained } = this.#stores;
    if (retained.length === 0) return;
    let room = this.#roomBeside(need);
    if (this.#bytesOf(retained) <= room) return;
    const kept = latestUsedFirst(retained, monotonicNow()).filter((one) => {
      const bytes = this.#bytesOf([one]);
      // One that does not fit in any case must not cost the others their room.
      if (bytes > room) return false;
      room -= bytes;
      return true;
    });
    this.#stores.retainOnly(kept);
  }

  /** Returns the live organizations that a file replaces: its own, and those of removed files. */
  #replacedBy(file: string, next: Manifest): Predecessor[] {
    const declared = new Set(next.organizations.map(({ organizationId }) => organizationId));
    return Array.from(this.#stores.live.values())
      .filter(({ store, file: owner }) => owner === file || declared.has(store.organizationId))
      .map(({ store }) => ({ ...store, counts: loadedCounts(store) }));
  }

  #liveSnapshots(): Set<string> {
    return new Set(this.#stores.live.values().map(({ store }) => store.snapshotId));
  }

  #nextNeed(): number {
    let need = 0;
    for (const snapshotId of this.#liveSnapshots()) need = Math.max(need, this.#needs.get(snapshotId) ?? 0);
    return need;
  }

  #roomBeside(need: number): number {
    return this.#limit.bytes - this.#liveBytes() - need;
  }

  #liveBytes(): number {
    const sections = [...this.#stores.live.values()].flatMap(({ store }) => sectionsOf(store));
    return bytesInUse(storedBytes(sections, this.#threads), this.#threads);
  }

  #bytesOf(retained: readonly RetainedSection[]): number {
    return storedBytes(
      retained.map(({ image }) => image),
      this.#threads,
    );
  }
}
