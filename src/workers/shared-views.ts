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
import { EMPTY_VIEW, StoreView } from '../store/registry/store-view.ts';
import type { SentImage, SentStore, SentView, ShownVersion } from './protocol.ts';

/**
 * Distribution of views from the supervisor to all workers. The supervisor sends each image once, and each view by the
 * numbers of its images. When all workers have prepared the view, the supervisor sets `shownVersion`. Then all workers
 * show the view at the same moment, so a client that saw new data in one worker sees it in all others.
 */

/** Converts views to messages, for the supervisor. */
export class ViewPublisher {
  #images: ReadonlyMap<SectionImage, SentImage> = new Map();
  #latestNumber = 0;
  #latestView = EMPTY_VIEW;
  #sent: SentView = { version: 0, live: [], retained: [] };

  /** The latest view with all of its images, for a new worker. */
  get latest() {
    return { images: [...this.#images.values()], view: this.#sent };
  }

  /** Returns the update to `view`, with the images that were not sent yet; undefined if it is current. */
  next(view: StoreView) {
    if (view === this.#latestView) return undefined;
    const known = this.#latestNumber;
    const images = new Map<SectionImage, SentImage>();
    const numberOf = (image: SectionImage): number => {
      const sent = images.get(image) ?? this.#images.get(image);
      const { number } = sent ?? { number: ++this.#latestNumber };
      images.set(image, sent ?? { number, image });
      return number;
    };
    this.#latestView = view;
    this.#sent = {
      version: this.#sent.version + 1,
      live: Array.from(view.live.values(), ({ lists, history, ...store }) => ({
        ...store,
        lists: byList((list) => numberOf(lists[list])),
        history: numberOf(history),
      })),
      retained: Array.from(view.retained.values(), ({ image, ...section }) => ({
        ...section,
        number: numberOf(image),
      })),
    };
    const added = [...images.values()].filter(({ number }) => number > known);
    this.#images = images;
    return { images: added, view: this.#sent };
  }
}

export class WorkerStores {
  readonly #shownVersion: ShownVersion;
  readonly #images = new Map<number, SectionImage>();
  #view = EMPTY_VIEW;
  #prepared: { readonly version: number; readonly view: StoreView } | undefined;

  constructor(shownVersion: ShownVersion) {
    this.#shownVersion = shownVersion;
  }

  get view(): StoreView {
    if (this.#prepared !== undefined && Atomics.load(this.#shownVersion, 0) >= this.#prepared.version) {
      this.#view = this.#prepared.view;
      this.#prepared = undefined;
    }
    return this.#view;
  }

  add({ number, image }: SentImage): void {
    this.#images.set(number, image);
  }

  prepare({ version, live, retained }: SentView): void {
    const view = new StoreView(
      new Map(live.map((sent) => [sent.organizationId, this.#storeOf(sent)])),
      retained.map(({ number, ...section }) => ({ ...section, image: this.#image(number) })),
    );
    this.#prepared = { version, view };
  }

  /** Drops the images that the current view does not use. The supervisor does not name them again. */
  dropUnused(): void {
    const { live, retained } = this.view;
    const used = new Set([
      ...[...live.values()].flatMap(sectionsOf),
      ...[...retained.values()].map(({ image }) => image),
    ]);
    const unused = [...this.#images].filter(([, image]) => !used.has(image));
    for (const [number] of unused) this.#images.delete(number);
    const images = unused.map(([, image]) => image);
    promptGarbageCollection(memoryOf(images, memoryOf(used).numbers).bytes);
  }

  #storeOf({ lists, history, ...store }: SentStore): OrganizationStore {
    return {
      ...store,
      // The supervisor numbers lists and histories.
      lists: byList((name) => this.#image(lists[name]) as ListImage),
      history: this.#image(history) as HistoryImage,
    };
  }

  #image(number: number): SectionImage {
    return received(this.#images.get(number), `image ${number}`);
  }
}

function received<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} was not sent`);
  return value;
}
