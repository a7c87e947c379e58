import { promptGarbageCollection } from '../store/memory/image-memory.ts';
import type { HistoryImage, OrganizationImage } from '../store/organization-image.ts';
import { OrganizationStore, type StoreOrigin, WalkMark } from '../store/organization-store.ts';
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
  /** By content image or history image. */
  readonly #images = new Map<object, SentImage>();
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
    const images: SentImage[] = [];
    const used = new Set<object>();
    const numberOf = (image: object, sent: (number: number) => SentImage): number => {
      used.add(image);
      const known = this.#images.get(image);
      if (known !== undefined) return known.number;
      const added = sent(++this.#latestNumber);
      this.#images.set(image, added);
      images.push(added);
      return added.number;
    };
    const sentStore = ({ image, walks, history, ...store }: OrganizationStore): SentStore => ({
      content: numberOf(image, (number) => ({ number, content: image, walks: walks.word })),
      history: numberOf(history, (number) => ({ number, history })),
      ...originOf(store),
    });
    this.#latestView = view;
    this.#sent = {
      version: this.#sent.version + 1,
      live: Array.from(view.live.values(), sentStore),
      retained: [...view.retained.values()].flat().map(sentStore),
    };
    for (const image of this.#images.keys()) if (!used.has(image)) this.#images.delete(image);
    return { images, view: this.#sent };
  }
}

function originOf({ snapshotId, producedAt, latestInstant }: StoreOrigin): StoreOrigin {
  return { snapshotId, producedAt, latestInstant };
}

/** Holds the view that a worker shows, and the one that it has prepared. */
export class WorkerStores {
  readonly #shownVersion: ShownVersion;
  readonly #contents = new Map<number, { readonly image: OrganizationImage; readonly walks: WalkMark }>();
  readonly #histories = new Map<number, HistoryImage>();
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
    if ('history' in sent) this.#histories.set(sent.number, sent.history);
    else this.#contents.set(sent.number, { image: sent.content, walks: new WalkMark(sent.walks) });
  }

  /** Prepares a view over images that were added. */
  prepare({ version, live, retained }: SentView): void {
    const current = new Map(this.view.stores().map((store) => [store.history, store]));
    const storeOf = (sent: SentStore) => this.#storeOf(sent, current);
    const view = new StoreView(
      new Map(live.map(storeOf).map((store) => [store.organizationId, store])),
      Map.groupBy(retained.map(storeOf), ({ organizationId }) => organizationId),
    );
    this.#prepared = { version, view };
  }

  /** Drops the images that the current view does not use. The supervisor does not name them again. */
  dropUnused(): void {
    const stores = [...this.view.stores()];
    const [contents, histories] = [stores.map(({ image }) => image), stores.map(({ history }) => history)];
    const bytes =
      dropOthers(this.#contents, ({ image }) => image, new Set(contents)) +
      dropOthers(this.#histories, (history) => history, new Set(histories));
    promptGarbageCollection(bytes);
  }

  /** Returns the store for a message. Reuses the current store if it is the same, and so its next sessions. */
  #storeOf(sent: SentStore, current: ReadonlyMap<HistoryImage, OrganizationStore>): OrganizationStore {
    const [content, history] = [this.#contents.get(sent.content), this.#histories.get(sent.history)];
    if (content === undefined || history === undefined)
      throw new Error('the images of a store were not sent');
    // Each load has a history of its own.
    return (
      current.get(history) ?? new OrganizationStore(content.image, history, originOf(sent), content.walks)
    );
  }
}

/** Drops the entries whose images are not used. Returns the bytes that they hold. */
function dropOthers<Entry, Image extends { readonly bytesHeld: number }>(
  entries: Map<number, Entry>,
  imageOf: (entry: Entry) => Image,
  used: ReadonlySet<Image>,
): number {
  let bytes = 0;
  for (const [number, entry] of entries) {
    const image = imageOf(entry);
    if (used.has(image)) continue;
    entries.delete(number);
    bytes += image.bytesHeld;
  }
  return bytes;
}
