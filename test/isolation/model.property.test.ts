import { expect } from 'chai';
import fc from 'fast-check';
import { Random } from '../../scripts/sample/random.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { COLLECTION_NAMES } from '../../src/contract/resources.ts';
import { Pins } from '../../src/http/checks/pin.ts';
import type { KeyRing } from '../../src/keys/key-ring.ts';
import { KeysFile, readKeyRing } from '../../src/keys/keys-file.ts';
import { readSnapshot } from '../support/read-snapshot.ts';
import type { OrganizationStore, SnapshotImage } from '../../src/store/organization-image.ts';
import { newServedDigests } from '../../src/store/registry/served-digests.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { type Section, StoreView } from '../../src/store/registry/store-view.ts';
import { byDepth } from '../support/depth.ts';
import { PRODUCED_AT } from '../support/import-folder.ts';
import {
  type Organization,
  randomIdPools,
  randomOrganization,
} from '../support/oracle/random-organization.ts';
import { QueryMaker } from '../support/oracle/random-query.ts';
import { buildWorld } from '../support/oracle/random-snapshot.ts';
import { FIXED } from '../support/random.ts';
import { withFolder } from '../support/temporary-folder.ts';
import { type ApiResponse, TestApi } from '../support/test-api.ts';
import { authorization, type KeyFor } from './two-organizations.ts';

const SEED = 20_261_124;
const RUNS = byDepth({ short: 8, deep: 200 });
const TARGETS = 200;

/** The observed organization and the other one. Each has two contents, and many ids in common. */
const OWNERS = ['observed', 'other'] as const;
type Owner = (typeof OWNERS)[number];

/** A step in all worlds. In a world without the other organization, its steps are omitted. */
type Step =
  | {
      readonly is: 'ask';
      readonly as: Owner;
      readonly target: number;
      readonly pin: number;
      readonly condition: Condition;
    }
  | { readonly is: 'swap'; readonly of: Owner; readonly content: number }
  | { readonly is: 'release' };
/** The tag in `If-None-Match`: that of the same target, for the same or the other organization. */
type Condition = 'none' | 'any' | 'own' | 'other';

const owner = fc.constantFrom(...OWNERS);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      is: fc.constant('ask' as const),
      as: fc.constantFrom('observed' as const, 'observed' as const, 'other' as const),
      target: fc.nat(TARGETS - 1),
      // Often beyond the pins: none.
      pin: fc.nat(15),
      condition: fc.constantFrom<Condition>('none', 'none', 'any', 'own', 'other'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ is: fc.constant('swap' as const), of: owner, content: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.constant({ is: 'release' as const }) },
);

/** An app whose registry is replaced for each run. */
class World {
  /** Whether the other organization exists, and which content it has first; undefined without it. */
  readonly other: number | undefined;
  readonly #snapshots: Readonly<Record<Owner, readonly SnapshotImage[]>>;
  readonly #served = newServedDigests();
  #registry = new StoreRegistry(this.#served);
  #linesBefore = 0;
  #asking: Owner = 'observed';
  #api: TestApi | undefined;
  /** Reads of stores of the organization that does not ask. */
  foreignReads = 0;

  constructor(other: number | undefined, snapshots: Readonly<Record<Owner, readonly SnapshotImage[]>>) {
    this.other = other;
    this.#snapshots = snapshots;
  }

  async start(ring: KeyRing): Promise<void> {
    this.#api = await TestApi.start({
      stores: () => this.#watchedView(),
      keys: () => ring,
      // Time stands still, so that the responses do not depend on the speed of the machine.
      pins: new Pins(this.#served, () => 1),
      config: { publicBaseUrl: 'https://api.example.org', rateLimitPerMinute: 1_000_000 },
    });
  }

  async stop(): Promise<void> {
    await this.#api?.stop();
  }

  reset(): void {
    this.#served.fill(0n);
    this.#registry = new StoreRegistry(this.#served);
    this.#linesBefore = this.#api?.logged.length ?? 0;
    this.swap('observed', 0);
    if (this.other !== undefined) this.swap('other', this.other);
  }

  swap(of: Owner, content: number): void {
    this.#registry.swap(`${of}.sqlite`, this.#snapshots[of][content]);
  }

  release(): void {
    this.#registry.releaseUnwalked();
  }

  ask(as: Owner, key: KeyFor, target: string, condition: string | undefined): Promise<ApiResponse> {
    if (this.#api === undefined) throw new Error('not started yet');
    this.#asking = as;
    const headers = {
      Authorization: authorization(key),
      'Service-API-Version': 'preview',
      'X-Request-Id': 'model',
      ...(condition !== undefined && { 'If-None-Match': condition }),
    };
    return this.#api.send(target, { as: undefined, headers });
  }

  /** Returns the lines of the log for the observed organization since the reset, without times. */
  observedLines(): string[] {
    const lines = this.#api?.logged.slice(this.#linesBefore) ?? [];
    return lines
      .filter(({ organizationId }) => organizationId === 'observed')
      .map((line) => JSON.stringify({ ...line, time: 0, durationMs: 0 }));
  }

  /** Returns the view with stores that count each read, for the organization that does not ask. */
  #watchedView(): StoreView {
    const { live, retained } = this.#registry.view;
    const counted = <Part extends OrganizationStore | Section>(part: Part): Part =>
      part.organizationId === this.#asking
        ? part
        : new Proxy(part, {
            get: (of, name): unknown => {
              this.foreignReads++;
              return Reflect.get(of, name, of);
            },
          });
    const before = this.foreignReads;
    const view = new StoreView(
      new Map(live.entries().map(([id, store]) => [id, counted(store)])),
      [...retained.values()].map(counted),
    );
    // The view of a swap reads every section. What counts are the reads of a request.
    this.foreignReads = before;
    return view;
  }
}

describe(`An organization beside another one with common ids, which may be absent, larger, and swapped (seed ${FIXED.seed})`, function () {
  this.timeout(byDepth({ short: 300_000, deep: 600_000 }));
  let keys: Readonly<Record<Owner, KeyFor>>;
  let targets: readonly string[];
  let pins: readonly string[];
  /** Without the other organization, with a small one, and with a larger one. */
  let worlds: readonly World[];

  before(async () => {
    const random = new Random(SEED);
    const pools = randomIdPools(random, 15);
    const contents: Readonly<Record<Owner, readonly Organization[]>> = {
      observed: [0.7, 0.7].map((share) => randomOrganization(random, 'observed', pools, share)),
      other: [0.2, 0.95].map((share) => randomOrganization(random, 'other', pools, share)),
    };
    const snapshots = await withFolder(async (inFolder) => {
      const built = async (of: Owner) => {
        const images: SnapshotImage[] = [];
        for (const [i, content] of contents[of].entries()) {
          await buildWorld(random, [content], inFolder(`${of}-${i}.sqlite`));
          images.push(readSnapshot(inFolder(`${of}-${i}.sqlite`)));
        }
        return images;
      };
      return { observed: await built('observed'), other: await built('other') };
    });
    const all = [...contents.observed, ...contents.other];
    targets = Array.from({ length: TARGETS }, () => randomTarget(random, all));
    pins = OWNERS.flatMap((of) =>
      snapshots[of].flatMap(({ organizations: [{ lists }] }) =>
        Object.values(lists).map(({ digest }) => digest),
      ),
    );
    worlds = [undefined, 0, 1].map((other) => new World(other, snapshots));
    await withFolder(async (inFolder) => {
      const file = new KeysFile(inFolder('keys.sqlite'));
      const observed = file.create('observed', '', PRODUCED_AT);
      const ringAlone = readKeyRing(inFolder('keys.sqlite'));
      keys = { observed, other: file.create('other', '', PRODUCED_AT) };
      const ring = readKeyRing(inFolder('keys.sqlite'));
      for (const world of worlds) await world.start(world.other === undefined ? ringAlone : ring);
    });
  });
  after(() => Promise.all(worlds.map((world) => world.stop())));

  it('gets the same bytes, by the same work', async () => {
    let found = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
        for (const world of worlds) world.reset();
        for (const one of steps) {
          if (one.is === 'ask') found += await expectSame(one);
          for (const world of worlds) {
            if (one.is === 'swap' && (one.of === 'observed' || world.other !== undefined))
              world.swap(one.of, one.content);
            if (one.is === 'release') world.release();
          }
        }
        const [alone, ...others] = worlds.map((world) => world.observedLines());
        for (const lines of others) expect(lines).to.deep.equal(alone);
        expect(worlds.map(({ foreignReads }) => foreignReads)).to.deep.equal(worlds.map(() => 0));
      }),
      { seed: FIXED.seed, numRuns: RUNS, endOnFailure: true },
    );
    expect(found, 'responses with records').to.be.above(RUNS * 4);
  });

  /** Asks in all worlds, and compares the responses. Returns 1 if they have records, else 0. */
  async function expectSame({ as, target, pin, condition }: Extract<Step, { is: 'ask' }>): Promise<number> {
    const address = pinned(targets[target], pins.at(pin));
    const tag = await tagFor(as, condition, address);
    const responses = await askAll(as, address, tag);
    if (as === 'other') return 0;
    const [alone, ...others] = responses.map(comparable);
    for (const other of others) expect(other, address).to.equal(alone);
    return responses[0].status === 200 ? 1 : 0;
  }

  async function tagFor(as: Owner, condition: Condition, address: string): Promise<string | undefined> {
    if (condition === 'none') return undefined;
    if (condition === 'any') return '*';
    const of = (condition === 'own') === (as === 'observed') ? 'observed' : 'other';
    const [{ headers }] = await askAll(of, address, undefined);
    return headers['etag'] ?? '"none"';
  }

  /** Asks in all worlds that have the organization. */
  async function askAll(as: Owner, address: string, tag: string | undefined): Promise<ApiResponse[]> {
    const responses = [];
    for (const world of worlds) {
      if (as === 'observed' || world.other !== undefined)
        responses.push(await world.ask(as, keys[as], address, tag));
    }
    return responses;
  }
});

/** Returns the target of a random operation with values of any organization. */
function randomTarget(random: Random, organizations: readonly Organization[]): string {
  const maker = new QueryMaker(random, organizations);
  const organization = random.pick(organizations);
  const operation = random.pick(OPERATIONS);
  if (operation.kind === 'retrieve') {
    const ids = organization[operation.collection].map(({ record }) => String(Object.values(record)[0]));
    return withId(operation.path, random.pick([...ids, 'none']));
  }
  if (operation.kind === 'changes')
    return `${operation.path}?collections=${random.pick(COLLECTION_NAMES)}&${random.pick(['', 'since=', 'unknown=1'])}`;
  const { values, parts, parentId } = maker.query(operation, organization);
  const parameters = parts.map(([name, text]) => `${name}=${encodeURIComponent(text)}`);
  if (random.chance(0.1)) parameters.push('page=0', 'unknown=1');
  // Small pages have links.
  if (!values.has('perPage')) parameters.push('perPage=2');
  return `${withId(operation.path, parentId ?? '')}?${parameters.join('&')}`;
}

function withId(path: string, id: string): string {
  // URL parsers would drop a path segment of dots.
  const segment = encodeURIComponent(id.toWellFormed());
  return path.replace(/\{\w+\}/, ['', '.', '..'].includes(segment) ? 'none' : segment);
}

function pinned(target: string, pin: string | undefined): string {
  if (pin === undefined || !target.includes('?')) return target;
  return `${target.replace(/[&?]snapshot=[^&]*/, '')}${target.includes('?') ? '&' : '?'}snapshot=${pin}`;
}

/** Returns all of a response except for the time. */
function comparable({ status, headers, text }: ApiResponse): string {
  const { date, ratelimit = '', ...stable } = headers;
  expect(date).to.be.a('string');
  return JSON.stringify([status, stable, ratelimit.replace(/; t=\d+$/, ''), text]);
}
