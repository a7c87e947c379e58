import { setImmediate } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  byList,
  lastUseOf,
  type ListImage,
  type ListName,
  noteUse,
  type SectionImage,
  sectionsOf,
  sharedRecordsOf,
} from '../../src/store/organization-image.ts';
import { RecordsBuilder } from '../../src/store/records-builder.ts';
import { PLACE, recordAt, type RecordsImage } from '../../src/store/records.ts';
import { keyOf } from '../../src/store/registry/store-view.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { ViewPublisher, WorkerStores } from '../../src/workers/shared-views.ts';
import { emptyImage, emptySnapshot, WALKED } from '../support/empty-image.ts';
import { byDepth } from '../support/depth.ts';
import { FIXED } from '../support/random.ts';
import { times } from '../support/records.ts';

const ORGANIZATION = 'north';
const RECORDS = 60;
const SLAB_BYTES = 400;
/** What the slabs of a list have is at most this multiple of the records in memory. */
const FRAGMENTATION = 1.25;

/** By list, its records in their order. */
type Content = Readonly<Partial<Record<ListName, readonly string[]>>>;
const LISTS = ['tickets', 'orders'] as const;

const textOf = (list: ListName, id: number, version: number) =>
  JSON.stringify({ id: `${list}-${id}`, version, more: 'x'.repeat((id * 7) % 30) });

/** A registry, and the threads that share its records. */
class Process {
  readonly registry = new StoreRegistry();
  readonly #publisher = new ViewPublisher();
  readonly #shownVersion = new Int32Array(new SharedArrayBuffer(4));
  readonly #workers = [new WorkerStores(this.#shownVersion), new WorkerStores(this.#shownVersion)];
  /** By `keyOf`, the content of each list that was live. */
  readonly #contents = new Map<string, readonly string[]>();
  #snapshots = 0;
  /** The slabs of all views, in the main thread and in the workers. */
  readonly seen: WeakRef<object>[] = [];
  /** The content of each snapshot. */
  readonly history: Content[] = [];

  /** Loads a snapshot as the loader does, which copies no record that is in memory. */
  load(content: Content) {
    const image = emptyImage(ORGANIZATION);
    const earlier: ListImage[] = [];
    const lists = byList((name): ListImage => {
      const contents = content[name] ?? [];
      const list = { ...image.lists[name], digest: JSON.stringify(contents) };
      this.#contents.set(keyOf(ORGANIZATION, list), contents);
      const known = this.#inMemory(name);
      if (contents.length === 0 && known.length === 0) return list;
      const same = known.find((one) => one.image.digest === list.digest);
      if (same !== undefined) return same.image;
      const builder = builderOf(contents, known);
      const records = builder.finish();
      for (const one of known) {
        const continued = builder.continued(one.records);
        if (continued !== one.records) earlier.push(withRecords(one.image, continued));
      }
      return withRecords(list, records);
    });
    // Each thread has objects of its own over the memory.
    const organizations = [structuredClone({ ...image, lists, earlier })];
    return { ...emptySnapshot(`s${this.#snapshots++}`), organizations };
  }

  /** Returns the lists whose records a load may share, as the admission does: the live one first. */
  #inMemory(name: ListName) {
    const sections = this.sections.filter((one) => one.name === name && sharedRecordsOf(one).length > 0);
    const live = this.registry.live.get(ORGANIZATION)?.store.lists[name];
    return structuredClone(sections.map((image) => ({ image, isLive: image === live }))).flatMap(
      ({ image, isLive }) => {
        if (image.name === 'history') return [];
        const { records } = image.collections[name];
        return [
          { image, records, stays: !isLive || lastUseOf(image, 1) > 0, contents: this.#contentOf(image) },
        ];
      },
    );
  }

  swap(content: Content): void {
    this.history.push(content);
    this.registry.swap('a.sqlite', this.load(content));
    this.publish();
    this.registry.releaseExpired(WALKED);
  }

  publish(): void {
    const sent = this.#publisher.next(this.registry.view);
    if (sent === undefined) return;
    for (const worker of this.#workers) this.#prepare(worker, sent);
    Atomics.store(this.#shownVersion, 0, sent.view.version);
    for (const worker of this.#workers) worker.dropEarlier(sent.bytesFreed);
  }

  replaceWorker(i: number): void {
    this.#workers[i] = new WorkerStores(this.#shownVersion);
    this.#prepare(this.#workers[i], this.#publisher.latest);
  }

  #prepare(worker: WorkerStores, sent: ViewPublisher['latest']): void {
    const { images, view } = structuredClone(sent);
    for (const image of images) worker.add(image);
    worker.prepare(view);
  }

  #contentOf(image: ListImage): readonly string[] {
    return this.#contents.get(keyOf(ORGANIZATION, image)) ?? [];
  }

  /** Expects each list that a thread can reach to have its content, and the counted bytes to be those of the memory. */
  expectWhole(): void {
    for (const { view } of [...this.#workers, this.registry]) {
      const images = [...view.values()].flatMap(({ lists, retained }) => [
        ...Object.values(lists),
        ...retained.map(({ image }) => image),
      ]);
      for (const image of images) {
        if (image.name === 'history') continue;
        const contents = this.#contentOf(image);
        const { records } = image.collections[image.name];
        expect(times(contents.length, (row) => recordAt(records, row).toString())).to.deep.equal(contents);
      }
      for (const { slabs } of images.flatMap(sharedRecordsOf))
        this.seen.push(...slabs.filter(({ number }) => number > 0).map((slab) => new WeakRef(slab)));
    }
    const { liveBytes, retainedBytes } = this.registry;
    const records = this.sections.flatMap(sharedRecordsOf);
    const places = sum(records.map((one) => one.places.byteLength));
    expect(liveBytes + retainedBytes).to.equal(places + slabBytesOf(records));
  }

  /** Expects the slabs in memory to have hardly more bytes than the records. */
  expectCompact(): void {
    const held = slabBytesOf(this.sections.flatMap(sharedRecordsOf));
    const records = new Set(
      this.sections.flatMap((one) => (one.name === 'history' ? [] : this.#contentOf(one))),
    );
    expect(held).to.be.at.most(FRAGMENTATION * sum([...records].map(({ length }) => length + 1)));
  }

  /** Those that requests can reach. */
  get sections(): SectionImage[] {
    const { live, retained } = this.registry;
    return [
      ...live.values().flatMap(({ store }) => sectionsOf(store)),
      ...retained.map(({ image }) => image),
    ];
  }
}

/** Computes the bytes of the slabs of images, each once. */
function slabBytesOf(images: readonly RecordsImage[]): number {
  const slabs = images.flatMap((records) => records.slabs);
  return sum(new Map(slabs.map(({ number, bytes }) => [number, bytes.length])).values());
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, one) => total + one, 0);

function withRecords(list: ListImage, records: RecordsImage): ListImage {
  const { [list.name]: collection } = list.collections;
  return {
    ...list,
    collections: { [list.name]: { ...collection, count: records.places.length / PLACE, records } },
  };
}

function builderOf(
  contents: readonly string[],
  known: readonly {
    readonly records: RecordsImage;
    readonly stays: boolean;
    readonly contents: readonly string[];
  }[],
): RecordsBuilder {
  const builder = new RecordsBuilder({
    count: contents.length,
    bytes: sum(contents.map(({ length }) => length + 1)),
    slabBytes: SLAB_BYTES,
    isShared: true,
    earlier: known,
  });
  for (const [row, text] of contents.entries()) {
    const has = known.find((one) => one.contents.includes(text));
    if (has === undefined) builder.copy(row, Buffer.from(text), Uint32Array.of(0, text.length + 1));
    else builder.refer(row, has.records, has.contents.indexOf(text));
  }
  return builder;
}

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      name: fc.constantFrom('swap' as const, 'swap' as const, 'fail to load' as const),
      list: fc.constantFrom(...LISTS),
      /** One record in this many changes. */
      every: fc.constantFrom(1, 3, 20),
      action: fc.constantFrom('change', 'delete', 'restore'),
    }),
  },
  fc.record({ name: fc.constant('roll back' as const), to: fc.nat() }),
  fc.record({ name: fc.constant('replace a worker' as const), worker: fc.integer({ min: 0, max: 1 }) }),
  fc.record({ name: fc.constant('use a list' as const), list: fc.nat() }),
  fc.record({ name: fc.constant('release one' as const), retained: fc.nat() }),
  fc.record({ name: fc.constant('publish' as const) }),
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

describe(`Shared records, in random histories of swaps, walks, rollbacks, failed loads and ended workers (seed ${FIXED.seed})`, () => {
  it('have the content of each list, in every worker, and are counted and held once until the last list is released', () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const process = new Process();
        process.swap(
          Object.fromEntries(LISTS.map((list) => [list, times(RECORDS, (id) => textOf(list, id, 0))])),
        );
        for (const [i, one] of steps.entries()) {
          take(process, one, i + 1);
          process.expectWhole();
        }
        // A refresh leaves slabs that are hardly used any longer, once walks do not use the lists before it.
        process.swap(
          changed(process.history.at(-1) ?? {}, { list: 'tickets', every: 20, action: 'change' }, 99),
        );
        process.swap(
          changed(process.history.at(-1) ?? {}, { list: 'orders', every: 20, action: 'change' }, 99),
        );
        process.expectCompact();
        process.swap({});
        process.registry.retainOnly([]);
        process.publish();
        expect(await reachable(process.seen)).to.deep.equal([]);
      }),
      { ...FIXED, numRuns: byDepth({ short: 15, deep: 500 }) },
    ));
});

/** Returns what several collections leave: one that was in progress at a release may have marked the memory. */
async function reachable(seen: readonly WeakRef<object>[]): Promise<readonly WeakRef<object>[]> {
  let left = seen;
  for (let collections = 0; collections < 3 && left.length > 0; collections++) {
    // An object that a WeakRef has returned lives on until the next turn of the event loop.
    await setImmediate();
    queryObjects(Process);
    left = left.filter((slab) => slab.deref() !== undefined);
  }
  return left;
}

function changed(
  content: Content,
  { list, every, action }: { readonly list: ListName; readonly every: number; readonly action: string },
  version: number,
): Content {
  const before = content[list] ?? [];
  const isChosen = (i: number) => (i * 7 + version) % every === 0;
  if (action === 'delete') return { ...content, [list]: before.filter((_, i) => !isChosen(i)) };
  if (action === 'restore')
    return { ...content, [list]: times(RECORDS, (id) => before[id] ?? textOf(list, id, version)) };
  return { ...content, [list]: before.map((text, i) => (isChosen(i) ? textOf(list, i, version) : text)) };
}

function take(process: Process, one: Step, version: number): void {
  const { registry, history } = process;
  switch (one.name) {
    case 'swap':
      process.swap(changed(history.at(-1) ?? {}, one, version));
      break;
    case 'fail to load':
      process.load(changed(history.at(-1) ?? {}, one, version));
      break;
    case 'roll back':
      process.swap(history[one.to % history.length]);
      break;
    case 'replace a worker':
      process.replaceWorker(one.worker);
      break;
    case 'publish':
      process.publish();
      break;
    case 'use a list': {
      // A list that was not used before its replacement is released at once.
      const { live } = registry;
      const isLive = new Set(live.values().flatMap(({ store }) => sectionsOf(store)));
      const sections = process.sections.filter((image) => isLive.has(image) || lastUseOf(image, 1) > 0);
      if (sections.length > 0) noteUse(sections[one.list % sections.length], 1);
      break;
    }
    case 'release one':
      registry.retainOnly(registry.retained.filter((_, i, all) => i !== one.retained % all.length));
  }
}
