import { setImmediate } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  byList,
  bytesOf,
  type ListImage,
  type ListName,
  noteUse,
  runsIn,
  type SectionImage,
  sectionsOf,
  withRuns,
} from '../../src/store/organization-image.ts';
import {
  isShared,
  keyOfRun,
  newRun,
  placesOf,
  recordsAt,
  referenceTo,
  type SharedRun,
} from '../../src/store/records.ts';
import { contentOf, keyOf } from '../../src/store/registry/store-view.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { ViewPublisher, WorkerStores } from '../../src/workers/shared-views.ts';
import { emptyImage, emptySnapshot, WALKED } from '../support/empty-image.ts';
import { byDepth } from '../support/depth.ts';
import { FIXED } from '../support/random.ts';

const ORGANIZATION = 'north';
/** By list, the contents of its runs. */
type Content = Readonly<Partial<Record<ListName, readonly string[]>>>;

const textOf = (content: string) => `{"id":"${content}"}`;

function runOf(key: string, content: string): SharedRun {
  const text = `${textOf(content)},`;
  const run = newRun(1, text.length);
  run.bytes.set(Buffer.from(text));
  run.offsets[1] = text.length;
  return { ...run, key };
}

/** A registry, and the threads that share its runs. */
class Process {
  readonly registry = new StoreRegistry();
  readonly #publisher = new ViewPublisher();
  readonly #shownVersion = new Int32Array(new SharedArrayBuffer(4));
  readonly #workers = [new WorkerStores(this.#shownVersion), new WorkerStores(this.#shownVersion)];
  /** By `keyOf`, the content of each list that was live. */
  readonly #contents = new Map<string, readonly string[]>();
  #snapshots = 0;
  /** The runs of all views, in the main thread and in the workers. */
  readonly seen: WeakRef<object>[] = [];

  /** Loads a snapshot as the loader does, which makes neither the runs nor the lists again that are known. */
  load(content: Content) {
    const known = contentOf(this.sections.map((image) => ({ organizationId: ORGANIZATION, image })));
    const image = emptyImage(ORGANIZATION);
    const lists = byList((name): ListImage => {
      const contents = content[name] ?? [];
      const runs = contents.map((one) => {
        const key = keyOfRun(ORGANIZATION, `${name}-${one}`);
        return known.runs.get(key) ?? runOf(key, one);
      });
      const list = { ...image.lists[name], digest: contents.join() || 'none' };
      const { [name]: collection } = list.collections;
      const records = { runs, ...placesOf(runs.map(() => 1)) };
      const collections = { ...list.collections, [name]: { ...collection, count: runs.length, records } };
      this.#contents.set(keyOf(ORGANIZATION, list), contents);
      return { ...list, collections };
    });
    // Each thread has objects of its own over the memory.
    const sent = structuredClone({
      ...image,
      lists: byList((name) =>
        withRuns(lists[name], (run) => (known.runs.has(run.key) ? referenceTo(run) : run)),
      ),
    });
    const received = byList((name) => {
      const kept = known.lists.get(keyOf(ORGANIZATION, sent.lists[name]));
      return kept ?? withRuns(sent.lists[name], (run) => known.runs.get(run.key) ?? run);
    });
    return {
      ...emptySnapshot(`s${this.#snapshots++}`),
      organizations: [{ ...sent, lists: received }],
    };
  }

  swap(content: Content): void {
    this.registry.swap('a.sqlite', this.load(content));
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

  /** Expects each list that a thread can reach to have its content, and the main thread to have each run once. */
  expectWhole(): void {
    for (const { view } of [...this.#workers, this.registry]) {
      const images = [
        ...view.live.values().flatMap(({ lists }) => Object.values(lists)),
        ...view.retained.values().map(({ image }) => image),
      ];
      for (const image of images) {
        if (image.name === 'history') continue;
        const contents = this.#contents.get(keyOf(ORGANIZATION, image)) ?? [];
        const { records } = image.collections[image.name];
        const rows = Uint32Array.from(contents.keys());
        expect(recordsAt(records, rows).join('')).to.equal(contents.map(textOf).join());
      }
      const runs = new Set(images.flatMap(runsOf));
      if (view === this.registry.view) expect(runs.size).to.equal(runsIn(images).size);
      for (const run of runs) this.seen.push(new WeakRef(run));
    }
    const { liveBytes, retainedBytes } = this.registry;
    expect(bytesOf(this.sections)).to.equal(liveBytes + retainedBytes);
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

function runsOf(image: SectionImage): SharedRun[] {
  const collections = image.name === 'history' ? [] : Object.values(image.collections);
  return collections.flatMap(({ records }) => records.runs.filter(isShared));
}

const contents = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { maxLength: 5 });
const content = fc.record({ tickets: contents, orders: contents });
const step = fc.oneof(
  fc.record({ name: fc.constant('swap' as const), content }),
  fc.record({ name: fc.constant('fail to load' as const), content }),
  fc.record({ name: fc.constant('replace a worker' as const), worker: fc.integer({ min: 0, max: 1 }) }),
  fc.record({ name: fc.constant('use a list' as const), list: fc.nat() }),
  fc.record({ name: fc.constant('release one' as const), retained: fc.nat() }),
  fc.record({ name: fc.constant('release those without a use' as const) }),
  fc.record({ name: fc.constant('publish' as const) }),
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

describe(`Shared runs, in random histories of swaps, walks, failed loads and ended workers (seed ${FIXED.seed})`, () => {
  it('have the content of each list, in every worker, and are held once until the last list is released', () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const process = new Process();
        for (const one of steps) {
          take(process, one);
          process.expectWhole();
        }
        process.swap({});
        process.registry.retainOnly([]);
        process.publish();
        // An object that a WeakRef has returned lives on until the next turn of the event loop.
        await setImmediate();
        queryObjects(Process);
        expect(process.seen.filter((run) => run.deref() !== undefined)).to.deep.equal([]);
      }),
      { ...FIXED, numRuns: byDepth({ short: 15, deep: 500 }) },
    ));
});

function take(process: Process, one: Step): void {
  const { registry } = process;
  switch (one.name) {
    case 'swap':
      process.swap(one.content);
      break;
    case 'fail to load':
      process.load(one.content);
      break;
    case 'replace a worker':
      process.replaceWorker(one.worker);
      break;
    case 'publish':
      process.publish();
      break;
    case 'use a list': {
      const { sections } = process;
      if (sections.length > 0) noteUse(sections[one.list % sections.length], 1);
      break;
    }
    case 'release those without a use':
      registry.releaseExpired(WALKED);
      break;
    case 'release one':
      registry.retainOnly(registry.retained.filter((_, i, all) => i !== one.retained % all.length));
  }
}
