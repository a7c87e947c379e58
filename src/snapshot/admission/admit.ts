import { bytesOf, type SectionImage, sectionsOf } from '../../store/organization-image.ts';
import { latestUsedFirst, type StoreRegistry } from '../../store/registry/store-registry.ts';
import { loadedCounts, type Manifest } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { checkSuccession, type Predecessor } from '../format/succession.ts';
import {
  checkMemory,
  type MemoryLimit,
  memoryNeed,
  roomBeside,
  storedBytes,
  type StoredMemory,
} from './memory.ts';

/** Decides which snapshots may be loaded, and which retained sections stay in memory beside the next load. */
export class Admission {
  readonly #stores: StoreRegistry;
  readonly #limit: MemoryLimit;
  readonly #threads: number;
  /** By file: bytes that the load of the latest admitted snapshot needs. The next one is about as large. */
  readonly #needs = new Map<string, number>();

  /** @param threads number of workers */
  constructor(stores: StoreRegistry, limit: MemoryLimit, threads: number) {
    this.#stores = stores;
    this.#limit = limit;
    this.#threads = threads;
  }

  /**
   * Admits declared content that may go live beside the other files. Releases retained sections if memory is short.
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
    checkSuccession(manifest, this.#predecessors(file, manifest));
    const need = memoryNeed(manifest.organizations);
    checkMemory(need, this.#live(), this.#limit);
    this.#needs.set(file, need.peak);
    this.makeRoom(need.peak);
  }

  /** Bytes that retained sections may hold. The rest is for live stores, and for the next load of the largest file. */
  get retainableBytes(): number {
    return Math.max(0, roomBeside(this.#nextNeed(), this.#live(), this.#limit));
  }

  /** Returns the live organizations that a file replaces: its own, and those of removed files. */
  #predecessors(file: string, next: Manifest): Predecessor[] {
    const declared = new Set(next.organizations.map(({ organizationId }) => organizationId));
    const replaced = this.#stores.live
      .values()
      .filter(({ store, file: owner }) => owner === file || declared.has(store.organizationId));
    return Array.from(replaced, ({ store }) => ({
      organizationId: store.organizationId,
      producedAt: store.producedAt,
      counts: loadedCounts(store),
    }));
  }

  /** Releases the retained sections that leave too little memory for a load, the longest unused first. */
  makeRoom(need = this.#nextNeed()): void {
    const { retained } = this.#stores;
    const room = roomBeside(need, this.#live(), this.#limit);
    const bytesFor = (sections: typeof retained) =>
      storedBytes(this.#memoryOf(sections.map(({ image }) => image)));
    if (bytesFor(retained) <= room) return;
    let bytes = 0;
    this.#stores.retainOnly(latestUsedFirst(retained).filter((one) => (bytes += bytesFor([one])) <= room));
  }

  #nextNeed(): number {
    const files = new Set(this.#stores.live.values().map(({ file }) => file));
    return Math.max(0, ...files.values().map((file) => this.#needs.get(file) ?? 0));
  }

  #live(): StoredMemory {
    return this.#memoryOf([...this.#stores.live.values()].flatMap(({ store }) => sectionsOf(store)));
  }

  #memoryOf(sections: readonly SectionImage[]): StoredMemory {
    return { bytesHeld: bytesOf(sections), sections: sections.length, threads: this.#threads };
  }
}
