import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { type ListOperation, OPERATIONS, type RetrieveOperation } from '../../src/contract/operations.ts';
import { RefusedSnapshot } from '../../src/snapshot/format/refused-snapshot.ts';
import { readSnapshot } from '../support/read-snapshot.ts';
import type { SnapshotImage } from '../../src/store/organization-image.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { SoundSnapshot } from '../support/sound-snapshot.ts';
import { requestCoded } from '../support/coded-response.ts';
import { byDepth } from '../support/depth.ts';
import { COLLECTIONS, type Collection } from '../support/digests.ts';
import { alterAtRandom } from '../support/hostile-records.ts';
import { type Body, givenApi } from '../support/test-api.ts';

const SEED = 466_121;
const SNAPSHOTS = byDepth({ short: 40, deep: 3000 });
/** Values with and without a match, by parameter. Of others, the example is requested. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  perPage: ['1', '3', '100'],
  page: ['1', '2'],
  tags: ['été', 'tag 1,tag 2'],
  eventId: ['evt_0', 'evt_9'],
  eventIds: ['evt_0', 'evt_0,evt_1,TICKET'],
  sessionId: ['ses_1', 'none'],
  sessionIds: ['ses_1', 'ses_1,ses_2'],
  qrCodes: ['north-1,north-2'],
  orderIds: ['ord_1', 'ord_1,ord_2'],
  status: ['FULFILLED'],
  email: ['name1@example.org'],
  type: ['TICKET', 'PRODUCT', 'BUNDLE'],
  resaleEnabled: ['true', 'false'],
};
const INSTANT = '2026-01-05T00:00:00Z';
/** Serving copies these records without a look at them; only a thorough check parses them. */
const COPIED: readonly string[] = ['tickets', 'orders'];

describe(`A snapshot whose content was altered under matching digests (seed ${SEED})`, function () {
  this.timeout(600_000);
  const sound = new SoundSnapshot();
  let stores = new StoreRegistry();
  const given = givenApi(() => ({ stores: () => stores.view }));

  it('is refused with a reason, or every operation and filter has a complete response', async () => {
    let accepted = 0;
    for (let n = 0; n < SNAPSHOTS; n++) {
      const random = new Random(SEED + n);
      const collection = random.pick<Collection>([...COLLECTIONS, 'offers']);
      const what = `snapshot ${n}, ${collection}`;
      const path = sound.altered(collection, alterAtRandom(random));
      const isThorough = random.chance(0.5);
      const image = imageOf(path, isThorough, what);
      if (image === undefined) continue;
      accepted++;
      stores = new StoreRegistry();
      stores.swap('a.sqlite', image);
      for (const operation of OPERATIONS.filter((operation) => operation.kind !== 'changes')) {
        const mayBeBroken = !isThorough && COPIED.includes(operation.collection);
        await expectAnswered(operation, random, mayBeBroken, what);
      }
    }
    // Neither side of the property is empty.
    expect(accepted)
      .to.be.greaterThan(SNAPSHOTS / 10)
      .and.lessThan(SNAPSHOTS * 0.9);
  });

  function imageOf(path: string, isThorough: boolean, what: string): SnapshotImage | undefined {
    try {
      return readSnapshot(path, { isThorough });
    } catch (error) {
      if (!(error instanceof RefusedSnapshot)) throw new Error(what, { cause: error });
      expect(error.message, what).to.not.equal('');
      return undefined;
    }
  }

  async function expectAnswered(
    operation: ListOperation | RetrieveOperation,
    random: Random,
    mayBeBroken: boolean,
    what: string,
  ): Promise<void> {
    const targets =
      operation.kind === 'list' ? listTargets(operation, random) : recordTargets(operation.path);
    const request = { Authorization: given.api.authorization('north'), 'Service-API-Version': 'preview' };
    for (const target of targets) {
      const { status, body } = await requestCoded(given.api.origin + target, request);
      const text = body.toString();
      try {
        expect(status).to.be.oneOf([200, 204, 404]);
        if (status !== 200 || mayBeBroken) continue;
        const parsed = JSON.parse(text) as Body;
        if (operation.kind === 'list') expectEnvelope(parsed);
      } catch (error) {
        throw new Error(`${what}: ${target}: ${text}`, { cause: error });
      }
    }
  }

  function expectEnvelope(body: Body): void {
    expect(body).to.have.all.keys('items', 'page', 'perPage', 'totalPages', 'hasMore', 'nextPage');
    expect([body.page, body.perPage, body.totalPages].every(Number.isInteger)).to.equal(true);
    expect(body.items).to.be.an('array').with.length.at.most(body.perPage);
    if (body.nextPage !== null) expect(body.nextPage.startsWith(`${given.api.origin}/v1/`)).to.equal(true);
  }
});

/** Returns targets with each value of each parameter, and with some random combinations. */
function listTargets({ path, parameters, pathParameter }: ListOperation, random: Random): string[] {
  const base = pathParameter === undefined ? path : path.replace(/\{\w+\}/, 'evt_1');
  const pairs = parameters.flatMap(({ name, role, example }) => {
    const fallback = example === undefined ? [] : [example];
    const values = role.is === 'bound' ? [INSTANT] : (VALUES[name] ?? fallback);
    return values.map((value) => [name, value] as const);
  });
  const combinations = Array.from({ length: 6 }, () => pairs.filter(() => random.chance(0.3)));
  return [...pairs.map((pair) => [pair]), ...combinations].map(
    (chosen) => `${base}?${new URLSearchParams(Object.fromEntries(chosen)).toString()}`,
  );
}

function recordTargets(path: string): string[] {
  return ['evt_1', 'tkt_1', 'ord_1', 'off_0', 'off_3'].map((id) => path.replace(/\{\w+\}/, id));
}
