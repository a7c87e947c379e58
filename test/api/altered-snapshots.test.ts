import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { type ListOperation, type Operation, OPERATIONS } from '../../src/contract/operations.ts';
import { formatCredential } from '../../src/keys/credential.ts';
import type { KeyRing } from '../../src/keys/key-ring.ts';
import { KeysFile, readKeyRing } from '../../src/keys/keys-file.ts';
import { RefusedSnapshot } from '../../src/snapshot/format/refused-snapshot.ts';
import { readSnapshot } from '../support/read-snapshot.ts';
import type { SnapshotImage } from '../../src/store/organization-image.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { SoundSnapshot } from '../support/sound-snapshot.ts';
import { alterRuns } from '../support/alter-runs.ts';
import { byDepth } from '../support/depth.ts';
import { reseal, COLLECTIONS, type Collection } from '../support/digests.ts';
import { alterAtRandom } from '../support/hostile-runs.ts';
import { PRODUCED_AT } from '../support/import-folder.ts';
import { TestApi } from '../support/test-api.ts';

const SEED = 466_121;
const SNAPSHOTS = byDepth({ short: 40, deep: 3000 });
const ORIGIN = 'https://api.example.org';
const ENVELOPE = ['items', 'page', 'perPage', 'totalPages', 'hasMore', 'nextPage'];
/** Values with and without a match, by parameter. */
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
  let api: TestApi;
  let authorization: string;
  let ring: KeyRing;

  before(async () => {
    const keys = sound.file('keys.sqlite');
    authorization = `Bearer ${formatCredential(new KeysFile(keys).create('north', '', PRODUCED_AT))}`;
    ring = readKeyRing(keys);
    api = await TestApi.start({
      stores: () => stores.view,
      keys: () => ring,
      config: { publicBaseUrl: ORIGIN },
    });
  });
  after(() => api.stop());

  it('is refused with a reason, or every operation and filter has a complete response', async () => {
    let accepted = 0;
    for (let n = 0; n < SNAPSHOTS; n++) {
      const random = new Random(SEED + n);
      const collection = random.pick<Collection>([...COLLECTIONS, 'offers']);
      const what = `snapshot ${n}, ${collection}`;
      const path = sound.copy();
      alterRuns(path, collection, alterAtRandom(random), 'north');
      reseal(path);
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

  async function request(target: string) {
    const headers = { Authorization: authorization, 'Service-API-Version': 'preview' };
    // The server may close a connection that is kept alive while this thread reads the next snapshot.
    const sent = get(api.origin + target, { agent: false, headers });
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: response.statusCode, text: await readText(response) };
  }

  async function expectAnswered(
    operation: Operation,
    random: Random,
    mayBeBroken: boolean,
    what: string,
  ): Promise<void> {
    const targets =
      operation.kind === 'list' ? listTargets(operation, random) : recordTargets(operation.path);
    for (const target of targets) {
      const { status, text } = await request(target);
      const where = `${what}: ${target}: ${text}`;
      expect(status, where).to.be.oneOf([200, 204, 404]);
      if (status !== 200 || mayBeBroken) continue;
      const body = parsedBody(text, where);
      if (operation.kind === 'list') expectEnvelope(body, where);
    }
  }
});

function parsedBody(text: string, where: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw new Error(where, { cause: error });
  }
}

function expectEnvelope(body: Record<string, unknown>, where: string): void {
  expect(Object.keys(body), where).to.deep.equal(ENVELOPE);
  const { items, page, perPage, totalPages, nextPage } = body;
  expect(Array.isArray(items) && items.length <= Number(perPage), where).to.equal(true);
  expect([page, perPage, totalPages].every(Number.isInteger), where).to.equal(true);
  expect(
    nextPage === null || (typeof nextPage === 'string' && nextPage.startsWith(`${ORIGIN}/v1/`)),
    where,
  ).to.equal(true);
}

/** Returns targets with each value of each parameter, and with some random combinations. */
function listTargets({ path, parameters, pathParameter }: ListOperation, random: Random): string[] {
  const base = pathParameter === undefined ? path : path.replace(/\{\w+\}/, 'evt_1');
  const pairs = parameters.flatMap(({ name, role }) => {
    const values = role.is === 'bound' ? [INSTANT] : (VALUES[name] ?? []);
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
