import type { OrganizationImage } from '../store/organization-image.ts';
import { OrganizationStore } from '../store/organization-store.ts';
import { noteReleasedMemory } from '../store/released-memory.ts';
import type { ServedStores } from '../store/served-stores.ts';
import { EMPTY_VIEW, StoreView } from '../store/store-view.ts';
import { WalkMark } from '../store/walk-mark.ts';
import type { SentImage, SentStore, SentView, Turn } from './thread-protocol.ts';

/** A view that waits for its turn. */
interface Prepared {
  readonly version: number;
  readonly view: StoreView;
}

/**
 * The stores of a thread: a view that all threads have, over images that they share. The next view is made ready in
 * each of them, and shown in all of them at one moment, which is when the number in `turn` becomes its version: so
 * whoever was told of something new by one thread finds it in all others.
 */
export class ThreadStores implements ServedStores {
  readonly #turn: Turn;
  readonly #images = new Map<number, { readonly image: OrganizationImage; readonly walks: WalkMark }>();
  #view = EMPTY_VIEW;
  #prepared: Prepared | undefined;

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  get isEmpty(): boolean {
    return this.#shown().live.size === 0;
  }

  get(organizationId: string, pin?: string): OrganizationStore | undefined {
    return this.#shown().get(organizationId, pin);
  }

  noteWalk({ walks }: OrganizationStore): void {
    walks.set();
  }

  know({ number, image, walks }: SentImage): void {
    this.#images.set(number, { image, walks: new WalkMark(walks) });
  }

  /** Makes a view ready, of images that are known. */
  prepare({ version, live, retained }: SentView): void {
    const before = new Map(
      this.#shown()
        .stores()
        .map((store) => [store.image, store]),
    );
    const storeOf = (sent: SentStore) => this.#storeOf(sent, before);
    const view = new StoreView(
      new Map(live.map(storeOf).map((store) => [store.organizationId, store])),
      Map.groupBy(retained.map(storeOf), ({ organizationId }) => organizationId),
    );
    this.#prepared = { version, view };
  }

  /** Lets go of what is not in the view that is shown. Nothing that is in it will be sent again. */
  settle(): void {
    const kept = new Set(
      this.#shown()
        .stores()
        .map(({ image }) => image),
    );
    let bytes = 0;
    for (const [number, { image }] of this.#images) {
      if (kept.has(image)) continue;
      this.#images.delete(number);
      bytes += image.bytesHeld;
    }
    noteReleasedMemory(bytes);
  }

  #shown(): StoreView {
    if (this.#prepared !== undefined && Atomics.load(this.#turn, 0) >= this.#prepared.version) {
      this.#view = this.#prepared.view;
      this.#prepared = undefined;
    }
    return this.#view;
  }

  /** @param before the stores of the view that is shown: those that stay keep what they know of the moment */
  #storeOf(
    { number, snapshotId, producedAt }: SentStore,
    before: ReadonlyMap<OrganizationImage, OrganizationStore>,
  ): OrganizationStore {
    const known = this.#images.get(number);
    if (known === undefined) throw new Error(`image ${number} was not sent`);
    const store = before.get(known.image);
    const isSame = store?.snapshotId === snapshotId && store.producedAt === producedAt;
    return isSame ? store : new OrganizationStore(known.image, { snapshotId, producedAt }, known.walks);
  }
}
