import { monotonicNow } from '../../clock.ts';
import { promptGarbageCollection } from '../memory/image-memory.ts';
import {
  byList,
  lastUseOf,
  memoryOf,
  type OrganizationImage,
  type OrganizationStore,
  type SectionImage,
  sectionsOf,
  type SharedNumbers,
  type SnapshotImage,
} from '../organization-image.ts';
import { newServedDigests, noteServed } from './served-digests.ts';
import { EMPTY_VIEW, keyOf, type Section, StoreView } from './store-view.ts';

export interface LiveStore {
  readonly store: OrganizationStore;
  readonly file: string;
  /** Whether that file still exists. If not, another file may serve the organization. */
  readonly isFilePresent: boolean;
}

/** A replaced section, retained for the walks that use it. */
export interface RetainedSection extends Section {
  readonly file: string;
  /** Milliseconds of the monotonic clock. */
  readonly replacedAt: number;
}

/** The live organization stores, and the replaced sections that are retained for walks. */
export class StoreRegistry {
  readonly #served;
  readonly #clock;
  #live: ReadonlyMap<string, LiveStore> = new Map();
  /** By organization: the latest production time that was live. */
  readonly #latestInstants = new Map<string, bigint>();
  /** No two have the same content, and none has that of the live section. */
  #retained: readonly RetainedSection[] = [];
  #view = EMPTY_VIEW;
  /** The slabs of the live sections. */
  liveShared: SharedNumbers = new Set();
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
    this.#live = new Map(
      this.#live
        .entries()
        .map(([id, entry]) => [id, entry.file === file ? { ...entry, isFilePresent: false } : entry]),
    );
  }

  /**
   * Replaces the organizations of a file by those of its new snapshot, in one step, also those of other files: the
   * admission decides whether it may. A section whose content is live or retained keeps its memory. All replaced
   * sections are retained: until every worker uses the new view, workers may send links to them (see
   * `releaseExpired`).
   */
  swap(file: string, { snapshotId, producedAt, organizations }: SnapshotImage): void {
    const replaced = this.replacedBy(file, organizations);
    const replacedAt = this.#clock();
    const earlier = new Map(
      organizations.flatMap(({ organizationId, earlier = [] }) =>
        earlier.map((list) => [keyOf(organizationId, list), list]),
      ),
    );
    const known = [...replaced.flatMap((one) => replacedSections(one, replacedAt)), ...this.#retained].map(
      (one): RetainedSection => {
        const image = earlier.get(keyOf(one.organizationId, one.image));
        return image === undefined ? one : { ...one, image };
      },
    );
    const images = new Map(known.map((one) => [keyOf(one.organizationId, one.image), one.image]));
    const live = new Map(this.#live);
    for (const { store } of replaced) live.delete(store.organizationId);
    const used = new Set<SectionImage>();
    for (const image of organizations) {
      const { organizationId } = image;
      // A key has the name of its section.
      const kept = <Image extends SectionImage>(section: Image) =>
        (images.get(keyOf(organizationId, section)) ?? section) as Image;
      const history = kept(image.history);
      const latest = this.#latestInstants.get(organizationId) ?? history.until;
      const latestInstant = history.until > latest ? history.until : latest;
      this.#latestInstants.set(organizationId, latestInstant);
      const origin = { snapshotId, producedAt, latestInstant };
      const lists = byList((name) => kept(image.lists[name]));
      const store = { organizationId, lists, history, ...origin };
      live.set(organizationId, { store, file, isFilePresent: true });
      for (const section of sectionsOf(store)) used.add(section);
    }
    const retained = known.filter(
      ({ organizationId, image }) => live.has(organizationId) && !used.has(image),
    );
    this.#replace(live, retained);
    const unused = organizations.flatMap(sectionsOf).filter((section) => !used.has(section));
    promptGarbageCollection(memoryOf(unused, this.liveShared).bytes);
  }

  /** Releases the retained sections whose retention has ended. Must be called when all workers use the live view. */
  releaseExpired(retention: Retention): void {
    const now = this.#clock();
    this.retainOnly(this.#retained.filter((one) => now < endOfRetention(one, retention, now)));
  }

  retainOnly(kept: readonly RetainedSection[]): void {
    if (kept.length < this.#retained.length) this.#replace(this.#live, kept);
  }

  /** Replaces all sections, and releases those that are not used any longer. */
  #replace(live: ReadonlyMap<string, LiveStore>, retained: readonly RetainedSection[]): void {
    const released = new Map(this.#owners());
    this.#live = live;
    this.#retained = retained;
    const sections = [...live.values()].flatMap(({ store }) => sectionsOf(store));
    ({ bytes: this.liveBytes, numbers: this.liveShared } = memoryOf(sections));
    const replaced = retained.map(({ image }) => image);
    this.retainedBytes = memoryOf(replaced, this.liveShared).bytes;
    this.#view = new StoreView(
      new Map(live.entries().map(([id, { store }]) => [id, store])),
      new Map(retained.map((one) => [keyOf(one.organizationId, one.image), one])),
    );
    for (const [image] of this.#owners()) released.delete(image);
    for (const [image, organizationId] of released)
      if (image.name !== 'history') noteServed(this.#served, keyOf(organizationId, image));
    promptGarbageCollection(memoryOf(released.keys(), this.liveShared).bytes);
  }

  /** Yields each section that requests can reach, with its organization. */
  *#owners(): Generator<readonly [SectionImage, string]> {
    for (const { store } of this.#live.values())
      for (const image of sectionsOf(store)) yield [image, store.organizationId];
    for (const { organizationId, image } of this.#retained) yield [image, organizationId];
  }
}

function replacedSections({ store, file }: LiveStore, replacedAt: number): RetainedSection[] {
  const { organizationId, snapshotId, producedAt } = store;
  const origin = { organizationId, snapshotId, producedAt, file, replacedAt };
  return sectionsOf(store).map((image) => ({ ...origin, image }));
}

/** The times for which a replaced section is retained at most. */
export interface Retention {
  /** Since its last use. */
  readonly snapshotRetainSeconds: number;
  /** Since its replacement, however often it is used. */
  readonly snapshotRetainMaxSeconds: number;
  /** Since its replacement, without a use. */
  readonly snapshotRetainUnwalkedSeconds: number;
}

/**
 * Returns the end of the retention of a section without a further use.
 * @param now milliseconds of the monotonic clock, as the result
 */
export function endOfRetention(
  { image, replacedAt }: RetainedSection,
  { snapshotRetainSeconds, snapshotRetainMaxSeconds, snapshotRetainUnwalkedSeconds }: Retention,
  now: number,
): number {
  const lastUse = lastUseOf(image, now);
  const end =
    lastUse === 0
      ? replacedAt + snapshotRetainUnwalkedSeconds * 1000
      : lastUse + snapshotRetainSeconds * 1000;
  return Math.min(end, replacedAt + snapshotRetainMaxSeconds * 1000);
}

/**
 * Sorts sections in the order in which they are retained when memory is short: in rounds. A round has the latest used
 * section of each organization that the rounds before it lack, so that the walks of one organization over many snapshots
 * do not end those of another. Sections without a use are last.
 * @param now milliseconds of the monotonic clock
 */
export function latestUsedFirst(retained: readonly RetainedSection[], now: number): RetainedSection[] {
  // Read once, since a use during the sort would change the order.
  const uses = new Map(retained.map((one) => [one, lastUseOf(one.image, now)]));
  const useOf = (one: RetainedSection) => uses.get(one) ?? 0;
  const counts = new Map<string, number>();
  const rounds = Map.groupBy(
    retained.toSorted((a, b) => useOf(b) - useOf(a)),
    (one) => {
      const round = counts.get(one.organizationId) ?? 0;
      counts.set(one.organizationId, round + 1);
      return useOf(one) === 0 ? Infinity : round;
    },
  );
  return [...rounds.values()].flat();
}
