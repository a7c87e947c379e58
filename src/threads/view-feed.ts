import type { OrganizationImage } from '../store/organization-image.ts';
import type { OrganizationStore } from '../store/organization-store.ts';
import { EMPTY_VIEW } from '../store/store-view.ts';
import type { StoreView } from '../store/store-view.ts';
import type { SentImage, SentStore, SentView } from './thread-protocol.ts';

/** Views as they are sent to threads: each image once, under a number, and then by its number alone. */
export class ViewFeed {
  readonly #images = new Map<OrganizationImage, SentImage>();
  #latestNumber = 0;
  #latestView = EMPTY_VIEW;
  #sent: SentView = { version: 0, live: [], retained: [] };

  /** The latest view, and what it takes to have it. */
  get latest(): { readonly images: readonly SentImage[]; readonly view: SentView } {
    return { images: [...this.#images.values()], view: this.#sent };
  }

  /** What is to be sent for a view to who has the latest; undefined when that is it. Then it is the latest itself. */
  next(view: StoreView): { readonly images: readonly SentImage[]; readonly view: SentView } | undefined {
    if (view === this.#latestView) return undefined;
    const stores = [...view.stores()];
    const images: SentImage[] = [];
    for (const { image, walks } of stores) {
      if (this.#images.has(image)) continue;
      const sent = { number: ++this.#latestNumber, image, walks: walks.word };
      this.#images.set(image, sent);
      images.push(sent);
    }
    const kept = new Set(stores.map(({ image }) => image));
    for (const image of this.#images.keys()) if (!kept.has(image)) this.#images.delete(image);
    this.#latestView = view;
    this.#sent = {
      version: this.#sent.version + 1,
      live: [...view.live.values()].map((store) => this.#sentStore(store)),
      retained: [...view.retained.values()].flat().map((store) => this.#sentStore(store)),
    };
    return { images, view: this.#sent };
  }

  #sentStore({ image, snapshotId, producedAt }: OrganizationStore): SentStore {
    const sent = this.#images.get(image);
    if (sent === undefined) throw new Error('the image of a store is not among those of its view');
    return { number: sent.number, snapshotId, producedAt };
  }
}
