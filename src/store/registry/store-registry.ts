import { monotonicNow } from '../../clock.ts';
import { promptGarbageCollection } from '../memory/image-memory.ts';
import { sharedUint32s } from '../memory/shared-arrays.ts';
import {
  byList,
  type LoadedImage,
  memoryOf,
  type OrganizationImage,
  type SectionImage,
  sectionsOf,
  type SnapshotImage,
} from '../organization-image.ts';
import { endOfRetention, type Retention } from './retention.ts';
import { newServedDigests, noteServed } from './served-digests.ts';
import {
  imageOf,
  keyOf,
  type OrganizationStore,
  type OwnedImage,
  type RetainedSection,
  sectionsIn,
  type StoreView,
} from './store-view.ts';

export interface LiveStore {
  readonly store: OrganizationStore;
  readonly file: string;
  /** Whether that file still exists. If not, another file may serve the organization. */
  readonly isFilePresent: boolean;
  /** The memory of the live sections. No other organization shares it. */
  readonly memory: ReturnType<typeof memoryOf>;
  /** Bytes that only retained sections hold. */
  readonly retainedBytes: number;
}

/** The live organization stores, and the replaced sections that are retained for walks. */
export class StoreRegistry {
  readonly #served;
  readonly #clock;
  readonly #live = new Map<string, LiveStore>();
  /** By organization: the latest production time that was live. */
  readonly #latestInstants = new Map<string, bigint>();
  #retained: readonly RetainedSection[] = [];
  #view: StoreView = new Map();
  /** Bytes that the live sections hold, and those that only retained sections hold. */
  liveBytes = 0;
  retainedBytes = 0;

  /**
   * @param served of `newServedDigests`; notes the content that is neither live nor retained any longer
   * @param clock milliseconds of the monotonic clock
   */
  constructor(served = newServedDigests(), clock = monotonicNow) {
    this.#served = served;
    this.#clock = clock;
  }

  get view(): StoreView {
    return this.#view;
  }

  /** By organization. */
  get live(): ReadonlyMap<string, LiveStore> {
    return this.#live;
  }

  get retained(): readonly RetainedSection[] {
    return this.#retained;
  }

  /** Returns the live organizations that a file replaces: its own, and those of other files that it has. */
  replacedBy(file: string, next: readonly Pick<OrganizationImage, 'organizationId'>[]): LiveStore[] {
    const declared = new Set(next.map(({ organizationId }) => organizationId));
    return this.#live
      .values()
      .filter(({ store, file: owner }) => owner === file || declared.has(store.organizationId))
      .toArray();
  }

  /** Records that a file no longer exists. Its organizations stay live until another file serves them. */
  markFileRemoved(file: string): void {
    for (const [id, one] of this.#live)
      if (one.file === file) this.#live.set(id, { ...one, isFilePresent: false });
  }

  /** Computes the bytes of sections, without what the live ones share. */
  bytesBesideLive(sections: Iterable<OwnedImage>): number {
    let bytes = 0;
    for (const [id, own] of Map.groupBy(sections, ({ organizationId }) => organizationId))
      bytes += memoryOf(imagesOf(own), this.#live.get(id)?.memory.numbers).bytes;
    return bytes;
  }

  /**
   * Replaces the organizations of a file by those of its new snapshot, in one step, also those of other files: the
   * admission decides whether it may. A section whose content is live or retained keeps its memory. All replaced
   * sections are retained: until every worker uses the new view, workers may send links to them (see
   * `releaseExpired`).
   * @returns the bytes that the organizations hold besides those before
   */
  swap(file: string, { snapshotId, producedAt, unchanged, ...image }: SnapshotImage): number {
    const replacedAt = this.#clock();
    const organizations = [...image.organizations, ...this.#continued(unchanged)];
    const next = new Map<string, LiveStore | undefined>(
      this.replacedBy(file, organizations).map(({ store }) => [store.organizationId, undefined]),
    );
    let [bytesAdded, bytesUnused] = [0, 0];
    for (const loaded of organizations) {
      const { organizationId, earlier = [] } = loaded;
      // What is found has the name of the section.
      const current = <Image extends SectionImage>(image: Image) =>
        (earlier.find(({ name, digest }) => name === image.name && digest === image.digest) ??
          image) as Image;
      const before = this.#live.get(organizationId);
      const kept = <Image extends SectionImage>(image: Image) =>
        current((imageOf(before?.store, image) ?? image) as Image);
      const history = kept(loaded.history);
      const latest = this.#latestInstants.get(organizationId) ?? history.until;
      const latestInstant = history.until > latest ? history.until : latest;
      this.#latestInstants.set(organizationId, latestInstant);
      const lists = byList((name) => kept(loaded.lists[name]));
      const used: SectionImage[] = sectionsOf({ lists, history });
      // No two have the same content, and none has that of the live section.
      const retained = replacedSections(before, replacedAt)
        .filter(({ image }) => !used.includes(current(image)))
        // A history that goes on without a change has the same buffers.
        .filter(({ image }) => image.name !== 'history' || image.changes !== history.changes)
        .map((one) => ({ ...one, image: current(one.image) }));
      const store = { organizationId, lists, history, snapshotId, producedAt, latestInstant, retained };
      const live = measured({ file, isFilePresent: true, store });
      next.set(organizationId, live);
      bytesAdded += bytesOf(live) - bytesOf(before);
      const unused = sectionsOf(loaded).filter((image) => !used.includes(image));
      bytesUnused += memoryOf(unused, live.memory.numbers).bytes;
    }
    this.#replace(next);
    promptGarbageCollection(bytesUnused);
    return bytesAdded;
  }

  /** Returns organizations that stay as they are, but for the history of their snapshot. */
  #continued(unchanged: SnapshotImage['unchanged']): LoadedImage[] {
    const { organizationIds, history } = unchanged ?? { organizationIds: [] };
    return organizationIds.flatMap((organizationId) => {
      const { lists, history: earlier } = this.#live.get(organizationId)?.store ?? {};
      if (lists === undefined || earlier === undefined || history === undefined) return [];
      const since = earlier.since > history.since ? earlier.since : history.since;
      return [{ organizationId, lists, history: { ...earlier, ...history, since, uses: sharedUint32s(2) } }];
    });
  }

  /** Releases the retained sections whose retention has ended. Must be called when all workers use the live view. */
  releaseExpired(retention: Retention): void {
    const now = this.#clock();
    this.retainOnly(this.#retained.filter((one) => now < endOfRetention(one, retention, now)));
  }

  retainOnly(kept: readonly RetainedSection[]): void {
    if (kept.length === this.#retained.length) return;
    const isKept = new Set(kept);
    const next = new Map<string, LiveStore>();
    for (const [id, live] of this.#live) {
      const retained = live.store.retained.filter((one) => isKept.has(one));
      if (retained.length < live.store.retained.length)
        next.set(id, measured({ ...live, store: { ...live.store, retained } }, live.memory));
    }
    this.#replace(next);
  }

  /** Replaces or removes organizations, and releases the sections that are not used any longer. */
  #replace(next: ReadonlyMap<string, LiveStore | undefined>): void {
    const released: OwnedImage[] = [];
    let bytesReleased = 0;
    for (const [organizationId, live] of next) {
      const used = sectionsIn(live?.store);
      const unused = sectionsIn(this.#live.get(organizationId)?.store).filter(
        (image) => !used.includes(image),
      );
      for (const image of unused) released.push({ organizationId, image });
      bytesReleased += memoryOf(unused, live?.memory.numbers).bytes;
      if (live === undefined) this.#live.delete(organizationId);
      else this.#live.set(organizationId, live);
    }
    const view = new Map<string, OrganizationStore>();
    this.liveBytes = 0;
    this.retainedBytes = 0;
    for (const [id, { store, memory, retainedBytes }] of this.#live) {
      view.set(id, store);
      this.liveBytes += memory.bytes;
      this.retainedBytes += retainedBytes;
    }
    this.#retained = [...this.#live.values()].flatMap(({ store }) => store.retained);
    this.#view = view;
    for (const { organizationId, image } of released)
      if (image.name !== 'history' && imageOf(view.get(organizationId), image) === undefined)
        noteServed(this.#served, keyOf(organizationId, image));
    promptGarbageCollection(bytesReleased);
  }
}

/** Computes the memory of an organization. */
function measured(
  live: Omit<LiveStore, 'memory' | 'retainedBytes'>,
  memory = memoryOf(sectionsOf(live.store)),
): LiveStore {
  return { ...live, memory, retainedBytes: memoryOf(imagesOf(live.store.retained), memory.numbers).bytes };
}

function bytesOf(live: LiveStore | undefined): number {
  return live === undefined ? 0 : live.memory.bytes + live.retainedBytes;
}

function imagesOf(sections: readonly Pick<OwnedImage, 'image'>[]): SectionImage[] {
  return sections.map(({ image }) => image);
}

/** Returns all sections of an organization in memory, as those that are retained. */
function replacedSections(live: LiveStore | undefined, replacedAt: number): RetainedSection[] {
  if (live === undefined) return [];
  const { organizationId, snapshotId, producedAt } = live.store;
  const origin = { organizationId, snapshotId, producedAt, file: live.file, replacedAt };
  return [...sectionsOf(live.store).map((image) => ({ ...origin, image })), ...live.store.retained];
}
