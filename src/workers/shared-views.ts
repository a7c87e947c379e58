import { promptGarbageCollection } from '../store/memory/image-memory.ts';
import {
  byList,
  type HistoryImage,
  type ListImage,
  memoryOf,
  type OrganizationStore,
  type SectionImage,
  sectionsOf,
} from '../store/organization-image.ts';
import {
  EMPTY_VIEW,
  keyOf,
  type OwnedImage,
  type Section,
  type SectionContent,
  StoreView,
} from '../store/registry/store-view.ts';
import type { MapChange, SentStore, SentView, ShownVersion, ViewUpdate } from './protocol.ts';

/**
 * Distribution of views from the supervisor to all workers. The supervisor sends what differs from the previous view, and
 * thus each image once. When all workers have prepared the view, the supervisor sets `shownVersion`. Then all workers show
 * the view at the same moment, so a client that saw new data in one worker sees it in all others.
 */

/** Converts views to messages, for the supervisor. */
export class ViewPublisher {
  #version = 0;
  #view = EMPTY_VIEW;

  /** The update from the empty view to the latest one, for a new worker. */
  get latest(): ViewUpdate {
    return updateOf(EMPTY_VIEW, this.#view, this.#version);
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
  const live = differenceOf(before.live, after.live);
  const retained = differenceOf(before.retained, after.retained);
  const gone = imagesOf(live.gone, retained.gone);
  const added = imagesOf(live.added, retained.added);
  return {
    images: without(added, gone),
    bytesFreed: bytesFreed(without(gone, added), after),
    view: {
      version,
      live: changeOf(live, ({ lists, history, ...store }) => ({
        ...store,
        lists: byList((list) => lists[list].digest),
        history: history.digest,
      })),
      retained: changeOf(retained, (sections) =>
        sections.map(({ image: { name, digest }, ...section }) => ({ ...section, image: { name, digest } })),
      ),
    },
  };
}

type Entries<Value> = readonly (readonly [key: string, value: Value])[];

/** Entries of the earlier map that the later one does not have, and the reverse. */
interface Difference<Value> {
  readonly gone: Entries<Value>;
  readonly added: Entries<Value>;
}

function differenceOf<Value>(
  before: ReadonlyMap<string, Value>,
  after: ReadonlyMap<string, Value>,
): Difference<Value> {
  return {
    gone: [...before].filter(([key, value]) => after.get(key) !== value),
    added: [...after].filter(([key, value]) => before.get(key) !== value),
  };
}

function changeOf<Value, Sent>(
  { gone, added }: Difference<Value>,
  toSent: (value: Value) => Sent,
): MapChange<Sent> {
  return { gone: gone.map(([key]) => key), added: added.map(([key, value]) => [key, toSent(value)]) };
}

function imagesOf(live: Entries<OrganizationStore>, retained: Entries<readonly Section[]>): OwnedImage[] {
  return [
    ...live.flatMap(([organizationId, store]) =>
      sectionsOf(store).map((image) => ({ organizationId, image })),
    ),
    ...retained.flatMap(([organizationId, sections]) =>
      sections.map(({ image }) => ({ organizationId, image })),
    ),
  ];
}

function without(these: readonly OwnedImage[], others: readonly OwnedImage[]): OwnedImage[] {
  const images = new Set(others.map(({ image }) => image));
  return these.filter(({ image }) => !images.has(image));
}

/** Returns the memory of released images, without what the live sections of their organizations share. */
function bytesFreed(released: readonly OwnedImage[], { live }: StoreView): number {
  const owners = new Set(released.map(({ organizationId }) => organizationId));
  const stores = [...owners].flatMap((id) => live.get(id) ?? []);
  const images = released.map(({ image }) => image);
  return memoryOf(images, memoryOf(stores.flatMap(sectionsOf)).numbers).bytes;
}

/** The views of a worker. */
export class WorkerStores {
  readonly #shownVersion: ShownVersion;
  #view = EMPTY_VIEW;
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
  prepare({ version, live, retained }: SentView): void {
    const { view } = this;
    const next = new StoreView(
      changed(view.live, live, (sent) => this.#storeOf(sent)),
      changed(view.retained, retained, (sections) =>
        sections.map((sent) => ({ ...sent, image: this.#imageOf(sent.organizationId, sent.image) })),
      ),
    );
    this.#prepared = { version, view: next };
    this.#added.clear();
  }

  /** Drops the view before the one that all workers show, also if no request came since. */
  dropEarlier(bytesFreed: number): void {
    this.#showPrepared();
    promptGarbageCollection(bytesFreed);
  }

  #storeOf({ lists, history, ...store }: SentStore): OrganizationStore {
    const imageOf = (content: SectionContent) => this.#imageOf(store.organizationId, content);
    return {
      ...store,
      // An image has the name that it is looked up by.
      lists: byList((name) => imageOf({ name, digest: lists[name] }) as ListImage),
      history: imageOf({ name: 'history', digest: history }) as HistoryImage,
    };
  }

  /** Returns an image that was sent for the next view, or that the view shown has. */
  #imageOf(organizationId: string, content: SectionContent): SectionImage {
    const key = keyOf(organizationId, content);
    const image = this.#added.get(key) ?? this.view.imageOf(organizationId, content);
    if (image === undefined) throw new Error(`image ${key} was not sent`);
    return image;
  }
}

function changed<Sent, Value>(
  map: ReadonlyMap<string, Value>,
  { gone, added }: MapChange<Sent>,
  toValue: (sent: Sent) => Value,
): ReadonlyMap<string, Value> {
  const copy = new Map(map);
  for (const key of gone) copy.delete(key);
  for (const [key, sent] of added) copy.set(key, toValue(sent));
  return copy;
}
