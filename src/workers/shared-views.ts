import { promptGarbageCollection } from '../store/memory/image-memory.ts';
import {
  byList,
  type HistoryImage,
  type ListImage,
  memoryOf,
  type SectionImage,
  sectionsOf,
} from '../store/organization-image.ts';
import {
  imageOf,
  keyOf,
  type OrganizationStore,
  type OwnedImage,
  type SectionContent,
  sectionsIn,
  type StoreView,
} from '../store/registry/store-view.ts';
import type { SentStore, SentView, ShownVersion, ViewUpdate } from './protocol.ts';

/**
 * Distribution of views from the supervisor to all workers. The supervisor sends what differs from the previous view, and
 * thus each image once. When all workers have prepared the view, the supervisor sets `shownVersion`. Then all workers show
 * the view at the same moment, so a client that saw new data in one worker sees it in all others.
 */

/** Converts views to messages, for the supervisor. */
export class ViewPublisher {
  #version = 0;
  #view: StoreView = new Map();

  /** The update from the empty view to the latest one, for a new worker. */
  get latest(): ViewUpdate {
    return updateOf(new Map(), this.#view, this.#version);
  }

  /** Returns the update from the latest view to `view`; undefined if it is current. */
  next(view: StoreView): ViewUpdate | undefined {
    if (view === this.#view) return undefined;
    const update = updateOf(this.#view, view, ++this.#version);
    this.#view = view;
    return update;
  }
}

function updateOf(before: StoreView, after: StoreView, version: number): ViewUpdate {
  const differing = (these: StoreView, others: StoreView) =>
    [...these.values()].filter((store) => others.get(store.organizationId) !== store);
  const [replaced, changed] = [differing(before, after), differing(after, before)];
  const gone = replaced.filter(({ organizationId }) => !after.has(organizationId));
  const [earlier, later] = [imagesOf(replaced), imagesOf(changed)];
  return {
    images: without(later, earlier),
    bytesFreed: bytesFreed(without(earlier, later), after),
    view: {
      version,
      gone: gone.map(({ organizationId }) => organizationId),
      changed: changed.map(({ lists, history, retained, ...store }) => ({
        ...store,
        lists: byList((list) => lists[list].digest),
        history: history.digest,
        retained: retained.map(({ image: { name, digest }, ...section }) => ({
          ...section,
          image: { name, digest },
        })),
      })),
    },
  };
}

function imagesOf(stores: readonly OrganizationStore[]): OwnedImage[] {
  return stores.flatMap((store) =>
    sectionsIn(store).map((image) => ({ organizationId: store.organizationId, image })),
  );
}

function without(these: readonly OwnedImage[], others: readonly OwnedImage[]): OwnedImage[] {
  const images = new Set(others.map(({ image }) => image));
  return these.filter(({ image }) => !images.has(image));
}

/** Returns the memory of released images, without what the live sections of their organizations share. */
function bytesFreed(released: readonly OwnedImage[], view: StoreView): number {
  const owners = new Set(released.map(({ organizationId }) => organizationId));
  const stores = [...owners].flatMap((id) => view.get(id) ?? []);
  const images = released.map(({ image }) => image);
  return memoryOf(images, memoryOf(stores.flatMap(sectionsOf)).numbers).bytes;
}

/** The views of a worker. */
export class WorkerStores {
  readonly #shownVersion: ShownVersion;
  #view: StoreView = new Map();
  #prepared: { readonly version: number; readonly view: StoreView } | undefined;
  /** The images that were sent for the next view, by `keyOf`. */
  readonly #added = new Map<string, SectionImage>();

  constructor(shownVersion: ShownVersion) {
    this.#shownVersion = shownVersion;
  }

  get view(): StoreView {
    this.#showPrepared();
    return this.#view;
  }

  #showPrepared(): void {
    if (this.#prepared === undefined || Atomics.load(this.#shownVersion, 0) < this.#prepared.version) return;
    this.#view = this.#prepared.view;
    this.#prepared = undefined;
  }

  add({ organizationId, image }: OwnedImage): void {
    this.#added.set(keyOf(organizationId, image), image);
  }

  /** Prepares the view that follows the one shown. */
  prepare({ version, gone, changed }: SentView): void {
    const view = new Map(this.view);
    for (const organizationId of gone) view.delete(organizationId);
    for (const sent of changed) view.set(sent.organizationId, this.#storeOf(sent));
    this.#prepared = { version, view };
    this.#added.clear();
  }

  /** Drops the view before the one that all workers show, also if no request came since. */
  dropEarlier(bytesFreed: number): void {
    this.#showPrepared();
    promptGarbageCollection(bytesFreed);
  }

  #storeOf({ lists, history, retained, ...store }: SentStore): OrganizationStore {
    const { organizationId } = store;
    const sentImage = (content: SectionContent) => this.#imageOf(organizationId, content);
    return {
      ...store,
      // An image has the name that it is looked up by.
      lists: byList((name) => sentImage({ name, digest: lists[name] }) as ListImage),
      history: sentImage({ name: 'history', digest: history }) as HistoryImage,
      retained: retained.map(({ image, ...section }) => ({ ...section, image: sentImage(image) })),
    };
  }

  /** Returns an image that was sent for the next view, or that the view shown has. */
  #imageOf(organizationId: string, content: SectionContent): SectionImage {
    const key = keyOf(organizationId, content);
    const image = this.#added.get(key) ?? imageOf(this.view.get(organizationId), content);
    if (image === undefined) throw new Error(`image ${key} was not sent`);
    return image;
  }
}
