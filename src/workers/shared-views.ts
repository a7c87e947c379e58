import { promptGarbageCollection } from '../store/memory/image-memory.ts';
import { OrganizationStore, WalkMark } from '../store/organization-store.ts';
import { EMPTY_VIEW, StoreView } from '../store/registry/store-view.ts';
import type { SentImage, SentStore, SentView, SharedImage, ShownVersion } from './protocol.ts';

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
  /** The images of the latest view. */
  #images: ReadonlyMap<SharedImage['image'], SentImage> = new Map();
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
    const known = this.#latestNumber;
    const images = new Map<SharedImage['image'], SentImage>();
    const numberOf = (shared: SharedImage): number => {
      const { image } = shared;
      const sent = images.get(image) ??
        this.#images.get(image) ?? { number: ++this.#latestNumber, ...shared };
      images.set(image, sent);
      return sent.number;
    };
    const sentStore = (store: OrganizationStore): SentStore => ({
      content: numberOf({ image: store.image, walks: store.walks.word }),
      history: numberOf({ image: store.history }),
      snapshotId: store.snapshotId,
      producedAt: store.producedAt,
      latestInstant: store.latestInstant,
    });
    this.#latestView = view;
    this.#sent = {
      version: this.#sent.version + 1,
      live: Array.from(view.live.values(), sentStore),
      retained: [...view.retained.values()].flat().map(sentStore),
    };
    this.#images = images;
    return { images: [...images.values()].filter(({ number }) => number > known), view: this.#sent };
  }
}

/** Holds the view that a worker shows, and the one that it has prepared. */
export class WorkerStores {
  readonly #shownVersion: ShownVersion;
  readonly #images = new Map<number, SentImage>();
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

  add(sent: SentImage): void {
    this.#images.set(sent.number, sent);
  }

  /** Prepares a view over images that were added. */
  prepare({ version, live, retained }: SentView): void {
    const current = new Map(this.view.stores().map((store) => [store.history, store]));
    /** Returns the store for a message. Reuses the current store if it is the same, and so its next sessions. */
    const storeOf = (sent: SentStore): OrganizationStore => {
      const [content, history] = [this.#images.get(sent.content), this.#images.get(sent.history)];
      if (content?.walks === undefined || history === undefined || history.walks !== undefined)
        throw new Error('the images of a store were not sent');
      const { image, walks } = content;
      // Each load has a history of its own.
      const same = current.get(history.image);
      return same ?? new OrganizationStore(image, history.image, sent, new WalkMark(walks));
    };
    const view = new StoreView(
      new Map(live.map(storeOf).map((store) => [store.organizationId, store])),
      Map.groupBy(retained.map(storeOf), ({ organizationId }) => organizationId),
    );
    this.#prepared = { version, view };
  }

  /** Drops the images that the current view does not use. The supervisor does not name them again. */
  dropUnused(): void {
    const used = new Set<object>(this.view.stores().flatMap(({ image, history }) => [image, history]));
    let bytes = 0;
    for (const [number, { image }] of this.#images) {
      if (used.has(image)) continue;
      this.#images.delete(number);
      bytes += image.bytesHeld;
    }
    promptGarbageCollection(bytes);
  }
}
