import { promptGarbageCollection } from '../store/memory/image-memory.ts';
import type { AnyImage } from '../store/organization-image.ts';
import { type AnyStore, DeletionsStore, OrganizationStore, WalkMark } from '../store/organization-store.ts';
import { EMPTY_VIEW, StoreView } from '../store/registry/store-view.ts';
import type { SentImage, SentStore, SentView, ShownVersion } from './protocol.ts';

/**
 * Distribution of views from the supervisor to all workers. The supervisor sends each image once, and each view by the
 * numbers of its images. When all workers have prepared the view, the supervisor sets `shownVersion`. Then all workers
 * show the view at the same moment, so a client that saw new data in one worker sees it in all others.
 */

/** A view, and the images to send before it. */
interface Update {
  readonly images: readonly SentImage[];
  readonly view: SentView;
}

/** Converts views to messages, for the supervisor. */
export class ViewPublisher {
  readonly #images = new Map<AnyImage, SentImage>();
  #latestNumber = 0;
  #latestView = EMPTY_VIEW;
  #sent: SentView = { version: 0, live: [], retained: [] };

  /** The latest view with all of its images, for a new worker. */
  get latest(): Update {
    return { images: [...this.#images.values()], view: this.#sent };
  }

  /** Returns the update to `view`; undefined if it is current. */
  next(view: StoreView): Update | undefined {
    if (view === this.#latestView) return undefined;
    const stores = [...view.stores()];
    const images: SentImage[] = [];
    for (const { image, walks } of stores) {
      if (this.#images.has(image)) continue;
      const sent = { number: ++this.#latestNumber, image, walks: walks.word };
      this.#images.set(image, sent);
      images.push(sent);
    }
    const used = new Set(stores.map(({ image }) => image));
    for (const image of this.#images.keys()) if (!used.has(image)) this.#images.delete(image);
    this.#latestView = view;
    this.#sent = {
      version: this.#sent.version + 1,
      live: [...view.live.values(), ...view.deletions.values()].map((store) => this.#sentStore(store)),
      retained: [...view.retained.values()].flat().map((store) => this.#sentStore(store)),
    };
    return { images, view: this.#sent };
  }

  #sentStore({ image, snapshotId, producedAt }: AnyStore): SentStore {
    const sent = this.#images.get(image);
    if (sent === undefined) throw new Error('a store of the view has no image among those sent');
    return { number: sent.number, snapshotId, producedAt };
  }
}

/** Holds the view that a worker shows, and the one that it has prepared. */
export class WorkerStores {
  readonly #shownVersion: ShownVersion;
  readonly #images = new Map<number, { readonly image: AnyImage; readonly walks: WalkMark }>();
  #view = EMPTY_VIEW;
  #prepared: { readonly version: number; readonly view: StoreView } | undefined;

  constructor(shownVersion: ShownVersion) {
    this.#shownVersion = shownVersion;
  }

  /** The view that all workers show. */
  get view(): StoreView {
    if (this.#prepared !== undefined && Atomics.load(this.#shownVersion, 0) >= this.#prepared.version) {
      this.#view = this.#prepared.view;
      this.#prepared = undefined;
    }
    return this.#view;
  }

  add({ number, image, walks }: SentImage): void {
    this.#images.set(number, { image, walks: new WalkMark(walks) });
  }

  /** Prepares a view over images that were added. */
  prepare({ version, live, retained }: SentView): void {
    const current = new Map(this.view.stores().map((store) => [store.image, store]));
    const storeOf = (sent: SentStore) => this.#storeOf(sent, current);
    const stores = live.map(storeOf);
    const view = new StoreView(
      byOrganization(stores.filter((store) => store instanceof OrganizationStore)),
      byOrganization(stores.filter((store) => store instanceof DeletionsStore)),
      Map.groupBy(retained.map(storeOf), ({ organizationId }) => organizationId),
    );
    this.#prepared = { version, view };
  }

  /** Drops the images that the current view does not use. The supervisor does not name them again. */
  dropUnused(): void {
    const used = new Set(this.view.stores().map(({ image }) => image));
    let bytes = 0;
    for (const [number, { image }] of this.#images) {
      if (used.has(image)) continue;
      this.#images.delete(number);
      bytes += image.bytesHeld;
    }
    promptGarbageCollection(bytes);
  }

  /** Returns the store for a message. Reuses the current store if it is the same, and so its next sessions. */
  #storeOf(
    { number, snapshotId, producedAt }: SentStore,
    current: ReadonlyMap<AnyImage, AnyStore>,
  ): AnyStore {
    const added = this.#images.get(number);
    if (added === undefined) throw new Error(`image ${number} was not sent`);
    const store = current.get(added.image);
    const isSame = store?.snapshotId === snapshotId && store.producedAt === producedAt;
    if (isSame) return store;
    const { image, walks } = added;
    return 'deletions' in image
      ? new DeletionsStore(image, { snapshotId, producedAt }, walks)
      : new OrganizationStore(image, { snapshotId, producedAt }, walks);
  }
}

function byOrganization<Store extends AnyStore>(stores: readonly Store[]): Map<string, Store> {
  return new Map(stores.map((store) => [store.organizationId, store]));
}
