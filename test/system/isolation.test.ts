import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { listOf, type OrganizationImage } from '../../src/store/organization-image.ts';
import { byDepth } from '../support/depth.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import type { Organization } from '../support/oracle/random-organization.ts';
import { QueryMaker } from '../support/oracle/random-query.ts';
import { buildWorld, randomOrganizations } from '../support/oracle/random-snapshot.ts';
import { exchange, type RawResponse, responsesIn, wholeResponsesIn } from '../support/raw-responses.ts';
import { readSnapshot } from '../support/read-snapshot.ts';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const SEED = 20_261_123;
const THREADS = 2;
const READS = OPERATIONS.filter((operation) => operation.kind !== 'changes');
const CLIENTS = 12;
/** Connections for each client, with up to 12 pipelined requests each. */
const CONNECTIONS = byDepth({ short: 30, deep: 900 });
const MISSING = { status: 404, body: '{"detail":"There is no such record."}' };

/** A request, and the body that it must get. */
interface Question {
  readonly request: string;
  readonly requestId: string;
  readonly organizationId: string;
  /** The digest in its tag, and in its link. */
  readonly digest: string;
  readonly status: number;
  readonly body: string;
}

type Client = 'fast' | 'slow' | 'aborting';

describe(`${CLIENTS} clients with alternating keys, over ${THREADS} threads (seed ${SEED})`, function () {
  this.timeout(byDepth({ short: 300_000, deep: 600_000 }));
  const inFolder = folderForAll();
  const random = new Random(SEED);
  const organizations = randomOrganizations(random, 60);
  const maker = new QueryMaker(random, organizations);
  const oracles = new Map(organizations.map((one) => [one, new Oracle(one)]));
  const credentials = new Map<string, string>();
  let images: readonly OrganizationImage[];
  let replica: ReplicaUnderTest;
  let count = 0;

  before(async () => {
    replica = await ReplicaUnderTest.start(inFolder, { THREADS: String(THREADS) });
    const path = inFolder('snapshots/world.sqlite');
    await buildWorld(random, organizations, path);
    images = readSnapshot(path).organizations;
    for (const { organizationId: id } of organizations) credentials.set(id, newCredential(inFolder, id));
    await replica.waitForLog({ msg: 'keys live', validKeys: organizations.length });
    await replica.waitForLog({ msg: 'snapshot live' });
  });
  after(() => replica.end());

  function randomQuestion(): Question {
    const organization = organizations[Math.min(random.below(6), random.below(4))];
    const { organizationId } = organization;
    const operation = random.pick(READS);
    const image = images.find((one) => one.organizationId === organizationId);
    const digest = image?.lists[listOf(operation.collection)].digest ?? '';
    const { target, status, body } = randomRead(operation, organization, digest);
    const requestId = `${organizationId}-${count++}`;
    const headers = [
      'Host: x',
      `Authorization: Bearer ${credentials.get(organizationId) ?? ''}`,
      `X-Request-Id: ${requestId}`,
      'Service-API-Version: preview',
      ...(random.chance(0.5) ? ['Accept-Encoding: gzip, deflate, br, zstd'] : []),
    ];
    const request = `GET ${target} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`;
    return { request, requestId, organizationId, digest, status, body };
  }

  function randomRead(operation: (typeof READS)[number], organization: Organization, digest: string) {
    const oracle = oracles.get(organization);
    const withId = (id: string) => operation.path.replace(/\{\w+\}/, encodeURIComponent(id));
    if (operation.kind === 'retrieve') {
      // Half of the ids may be those of another organization.
      const owner = random.chance(0.5) ? organization : random.pick(organizations);
      const ids = owner[operation.collection].map(({ record }) => String(Object.values(record)[0]));
      const id = ids.length === 0 ? 'none' : random.pick(ids);
      const record = oracle?.record(operation.id, id, Date.now());
      return {
        target: withId(id),
        ...(record === undefined ? MISSING : { status: 200, body: JSON.stringify(record) }),
      };
    }
    const { values, parts, parentId = '' } = maker.query(operation, organization);
    const page = Number(values.get('page') ?? 1);
    const perPage = Number(values.get('perPage') ?? 25);
    const written = ([name, text]: readonly [string, string]) => `${name}=${encodeURIComponent(text)}`;
    const target = `${withId(parentId.toWellFormed() || '-')}?${parts.map(written).join('&')}`;
    const expected = oracle?.page(operation.id, values, parentId.toWellFormed(), Date.now());
    if (expected === undefined) return { target, ...MISSING };
    const totalPages = Math.ceil(expected.totalRecords / perPage);
    if (page > 1 && page > totalPages) return { target, status: 204, body: '' };
    const hasMore = page < totalPages;
    const kept = Array.from(values, written).filter(
      (parameter) => !/^(page|perPage|snapshot)=/.test(parameter),
    );
    const next = [...kept, `page=${page + 1}`, `perPage=${perPage}`, `snapshot=${digest}`];
    const nextPage = hasMore ? `http://x${target.split('?', 1)[0]}?${next.join('&')}` : null;
    const envelope = { items: expected.records, page, perPage, totalPages, hasMore, nextPage };
    return { target, status: 200, body: JSON.stringify(envelope) };
  }

  function expectAnswer({ request, requestId, digest, status, body }: Question, response: RawResponse) {
    expect(response.headers['x-request-id'], request).to.equal(requestId);
    expect(response.status, request).to.equal(status);
    if (response.text !== body) expect(inOrder(response.text), request).to.equal(inOrder(body));
    const isLong = status === 200 && Buffer.byteLength(body) >= 1024;
    const mayBeCompressed = isLong && request.includes('Accept-Encoding');
    // A response is not compressed while the thread pool is busy.
    expect(response.headers['content-encoding'], request).to.be.oneOf(
      mayBeCompressed ? ['zstd', undefined] : [undefined],
    );
    if (status === 200) expect(response.headers['etag']).to.match(new RegExp(`^"${digest}\\.`));
  }

  /** Sends requests over one connection, and returns all received bytes. */
  const ask = (questions: readonly Question[], client: Client) =>
    exchange(
      replica.port,
      (socket) => socket.write(questions.map(({ request }) => request).join('')),
      async (received, socket) => {
        if (client === 'aborting') socket.resetAndDestroy();
        // Between two reads, the responses of others are written.
        for (let i = 0; client === 'slow' && i < 20; i++) await turn();
        // The last response ends the last request; its id is in no other.
        const isLast = received.includes(questions[questions.length - 1].requestId);
        return isLast && wholeResponsesIn(received).responses.length === questions.length;
      },
    );

  it('each get the bytes of the oracle for their key, however they read', async () => {
    const compared = { fast: 0, slow: 0, aborting: 0 };
    const found = new Set<string>();
    const beClient = async () => {
      for (let i = 0; i < CONNECTIONS; i++) {
        const client = random.pick(['fast', 'slow', 'aborting'] as const);
        const questions = Array.from({ length: random.between(1, 12) }, randomQuestion);
        const received = await ask(questions, client);
        // An aborted response is incomplete.
        const responses =
          client === 'aborting' ? wholeResponsesIn(received).responses : responsesIn(received);
        if (client !== 'aborting') expect(responses).to.have.length(questions.length);
        for (const [j, response] of responses.entries()) {
          expectAnswer(questions[j], response);
          found.add(`coding ${response.headers['content-encoding'] ?? 'none'}`);
        }
        compared[client] += responses.length;
        for (const { organizationId, status } of questions) found.add(`${organizationId} ${status}`);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, beClient));
    const least = (CLIENTS * CONNECTIONS) / 3;
    expect(compared.fast).to.be.above(least);
    expect(compared.slow).to.be.above(least);
    expect(compared.aborting).to.be.above(least / 10);
    expect([...found]).to.include.members(['coding zstd', 'coding none']);
    for (const { organizationId } of organizations.slice(0, 3)) {
      expect([...found]).to.include.members([`${organizationId} 200`, `${organizationId} 404`]);
    }
  });
});

/** Orders the fields of `pickupPoint`, which are served in the order of the import. That of all others is declared. */
function inOrder(text: string): string {
  const parsed: unknown = JSON.parse(text, (name, value: unknown) =>
    name === 'pickupPoint' && typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return JSON.stringify(parsed);
}
