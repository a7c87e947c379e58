import { expect } from 'chai';
import fc from 'fast-check';
import { Random } from '../../scripts/sample/random.ts';
import { COLLECTION_NAMES } from '../../src/contract/resources.ts';
import { formatCredential } from '../../src/keys/credential.ts';
import { KeyRing } from '../../src/keys/key-ring.ts';
import { KeysFile, readKeys } from '../../src/keys/keys-file.ts';
import { byDepth } from '../support/depth.ts';
import { PRODUCED_AT } from '../support/import-folder.ts';
import {
  type Organization,
  randomIdPools,
  randomOrganization,
} from '../support/oracle/random-organization.ts';
import { randomId, randomRead } from '../support/oracle/random-read.ts';
import { buildWorld } from '../support/oracle/random-snapshot.ts';
import { FIXED } from '../support/random.ts';
import { readSnapshot } from '../support/read-snapshot.ts';
import { withFolder } from '../support/temporary-folder.ts';
import type { ApiResponse, RequestOptions } from '../support/test-api.ts';
import { type Owner, OWNERS, type Snapshots, World } from './world.ts';

const SEED = 20_261_124;
const RUNS = byDepth({ short: 24, deep: 200 });
const TARGETS = 400;

/** Keys: one of each organization, and that of the observed one with the id of the other. */
const KEYS = [...OWNERS, 'forged'] as const;
type Key = (typeof KEYS)[number];

/** A request. Its tag in `If-None-Match` is that of the same target, for the same or the other organization. */
interface Ask {
  readonly is: 'ask';
  readonly as: Key;
  readonly method: NonNullable<RequestOptions['method']>;
  readonly target: number;
  readonly pin: number;
  readonly condition: 'none' | 'any' | Owner;
}

/** A step in all worlds. In a world without the other organization, its steps are omitted. */
type Step =
  Ask | { readonly is: 'swap'; readonly of: Owner; readonly content: number } | { readonly is: 'release' };

const owner = fc.constantFrom(...OWNERS);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      is: fc.constant('ask' as const),
      as: fc.constantFrom<Key>(...KEYS, 'observed', 'observed', 'observed'),
      method: fc.oneof(
        { weight: 2, arbitrary: fc.constant('get' as const) },
        fc.constantFrom('head', 'options', 'post'),
      ),
      target: fc.nat(TARGETS - 1),
      // Often beyond the pins: none.
      pin: fc.nat(30),
      condition: fc.constantFrom<Ask['condition']>('none', 'none', 'any', ...OWNERS),
    }),
  },
  { weight: 3, arbitrary: fc.record({ is: fc.constant('swap' as const), of: owner, content: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.constant({ is: 'release' as const }) },
);

describe(`An organization next to another one with common ids, which may be absent, larger, and swapped (seed ${FIXED.seed})`, function () {
  this.timeout(byDepth({ short: 300_000, deep: 600_000 }));
  const random = new Random(SEED);
  const pools = randomIdPools(random, 15);
  const contents: Readonly<Record<Owner, readonly Organization[]>> = {
    observed: [0.7, 0.7].map((share) => randomOrganization(random, 'observed', pools, share)),
    other: [0.2, 0.95].map((share) => randomOrganization(random, 'other', pools, share)),
  };
  const all = [...contents.observed, ...contents.other];
  let authorizations: Readonly<Record<Key, string>>;
  let targets: readonly string[];
  let pins: readonly string[];
  /** Without the other organization, with a small one, and with a larger one. */
  let worlds: readonly World[];

  before(async () => {
    const snapshots = await buildSnapshots();
    pins = OWNERS.flatMap((of) =>
      snapshots[of].flatMap(({ organizations: [{ lists }] }) =>
        Object.values(lists).map(({ digest }) => digest),
      ),
    );
    worlds = [undefined, 0, 1].map((other) => new World(other, snapshots));
    await withFolder(async (inFolder) => {
      const file = new KeysFile(inFolder('keys.sqlite'));
      const observed = file.create('observed', '', PRODUCED_AT);
      const ringAlone = new KeyRing(readKeys(inFolder('keys.sqlite')));
      const other = file.create('other', '', PRODUCED_AT);
      const ring = new KeyRing(readKeys(inFolder('keys.sqlite')));
      const forged = { ...observed, organizationId: 'other' };
      authorizations = {
        observed: `Bearer ${formatCredential(observed)}`,
        other: `Bearer ${formatCredential(other)}`,
        forged: `Bearer ${formatCredential(forged)}`,
      };
      for (const world of worlds) await world.start(world.has('other') ? ring : ringAlone);
    });
    const tokens = await Promise.all(OWNERS.map(tokenOf));
    targets = Array.from({ length: TARGETS }, () => randomTarget(random, all, tokens));
  });
  after(() => Promise.all(worlds.map((world) => world.stop())));

  function buildSnapshots(): Promise<Snapshots> {
    return withFolder(async (inFolder) => {
      const path = inFolder('built.sqlite');
      const built = (of: Owner) =>
        Array.fromAsync(contents[of], async (content) => {
          await buildWorld(random, [content], path);
          return readSnapshot(path);
        });
      return { observed: await built('observed'), other: await built('other') };
    });
  }

  /** Returns the token after all changes of an organization. */
  async function tokenOf(of: Owner): Promise<string> {
    const responses = await askAll(of, '/v1/changes', {});
    return /"next":"([\w-]+)"/.exec(responses[0].text)?.[1] ?? expect.fail('no token');
  }

  it('gets the same bytes, by the same work', async () => {
    let found = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
        for (const world of worlds) world.reset();
        for (const one of steps) {
          if (one.is === 'ask') found += await expectSameAsk(one);
          for (const world of worlds) {
            if (one.is === 'swap') world.swap(one.of, one.content);
            if (one.is === 'release') world.release();
          }
        }
        expectSameWork();
      }),
      { seed: FIXED.seed, numRuns: RUNS, endOnFailure: true },
    );
    expect(found, 'responses with records').to.be.above(RUNS * 3);
  });

  /** Asks in all worlds, and compares the responses. Returns 1 if they have records, else 0. */
  async function expectSameAsk({ as, method, target, pin, condition }: Ask): Promise<number> {
    const address = pinned(targets[target], pins.at(pin));
    const tag = condition === 'none' || condition === 'any' ? '*' : await tagOf(condition, address);
    const headers: RequestOptions['headers'] = condition === 'none' ? {} : { 'If-None-Match': tag };
    const responses = await askAll(as, address, { method, headers });
    if (as === 'other') return 0;
    const [alone, ...more] = responses.map(comparable);
    for (const other of more) expect(other, address).to.equal(alone);
    return responses[0].status === 200 ? 1 : 0;
  }

  async function tagOf(of: Owner, address: string): Promise<string> {
    const [{ headers }] = await askAll(of, address, {});
    return headers['etag'] ?? '"none"';
  }

  /** Asks in all worlds that have the organization. */
  function askAll(as: Key, address: string, options: RequestOptions): Promise<ApiResponse[]> {
    const asking = as === 'other' ? 'other' : 'observed';
    const headers = { Authorization: authorizations[as], ...options.headers };
    const having = worlds.filter((world) => world.has(asking));
    return Array.fromAsync(having, (world) => world.ask(asking, address, { ...options, headers }));
  }

  function expectSameWork(): void {
    const [alone, ...others] = worlds.map((world) => world.observedLines());
    for (const lines of others) expect(lines).to.deep.equal(alone);
    expect(worlds.map(({ foreignReads }) => foreignReads)).to.deep.equal(worlds.map(() => 0));
  }
});

/** Returns a target with values of any organization. Some are refused, or have no match. */
function randomTarget(random: Random, all: readonly Organization[], tokens: readonly string[]): string {
  const { target } = randomRead(random, random.pick(all), all);
  const start = target + (target.includes('?') ? '&' : '?');
  // Small pages have links.
  if (random.chance(0.8)) return random.pick([target, `${start}perPage=2`]);
  const id = encodeURIComponent(randomId(random, random.pick(all).tickets));
  return random.pick([
    '/v1/changes',
    `/v1/changes?since=${random.pick(tokens)}`,
    `/v1/changes?collections=${random.pick(COLLECTION_NAMES)}&unknown=${id}`,
    `${start}page=0&${id}=1`,
    `/v1/orders?status=${id}`,
    `/v1/${id}`,
    `/v1/events/${id}/`,
    `/v1/events/${id}%ff`,
    '/',
    '/healthz',
    '/openapi.json',
  ]);
}

function pinned(target: string, pin: string | undefined): string {
  if (pin === undefined || !target.includes('?')) return target;
  return `${target.replace(/[&?]snapshot=[^&]*/, '')}&snapshot=${pin}`;
}

/** Returns all of a response except for the time. */
function comparable({ status, headers, text }: ApiResponse): string {
  const { date, ratelimit = '', ...stable } = headers;
  expect(date).to.be.a('string');
  return JSON.stringify([status, stable, ratelimit.replace(/; t=\d+$/, ''), text]);
}
