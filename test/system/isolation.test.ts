import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import { OPERATIONS } from '../../src/contract/operations.ts';
import { readSnapshot } from '../support/read-snapshot.ts';
import { byDepth } from '../support/depth.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import type { Organization } from '../support/oracle/random-organization.ts';
import { QueryMaker } from '../support/oracle/random-query.ts';
import { buildWorld, randomOrganizations } from '../support/oracle/random-snapshot.ts';
import { type RawResponse, responsesIn } from '../support/raw-responses.ts';
import { listOf, type OrganizationImage } from '../../src/store/organization-image.ts';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const SEED = 20_261_123;
const THREADS = 2;
const READS = OPERATIONS.filter((operation) => operation.kind !== 'changes');
const CLIENTS = 12;
/** Connections for each client, with up to 12 pipelined requests each. */
const CONNECTIONS = byDepth({ short: 30, deep: 900 });

/** A request, and the body that it must get. */
interface Exchange {
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
    mkdirSync(inFolder('snapshots'));
    const path = join(inFolder('snapshots'), 'world.sqlite');
    await buildWorld(random, organizations, path);
    images = readSnapshot(path).organizations;
    for (const { organizationId: id } of organizations) credentials.set(id, newCredential(inFolder, id));
    replica = await ReplicaUnderTest.start(inFolder, { THREADS: String(THREADS) });
    await replica.waitForLog({ msg: 'snapshot live' });
  });
  after(() => replica.end());

  function randomExchange(): Exchange {
    const organization = organizations[Math.min(random.below(6), random.below(4))];
    const { organizationId } = organization;
    const operation = random.pick(READS);
    const image = images.find((one) => one.organizationId === organizationId);
    const digest = image?.lists[listOf(operation.collection)].digest ?? '';
    const { target, status, body } = randomQuestion(operation, organization, digest);
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

  function randomQuestion(operation: (typeof READS)[number], organization: Organization, digest: string) {
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

  function expectExchange({ request, requestId, digest, status, body }: Exchange, response: RawResponse) {
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

  it('each get the bytes of the oracle for their key, however they read', async () => {
    const compared = { fast: 0, slow: 0, aborting: 0 };
    const found = new Set<string>();
    const beClient = async () => {
      for (let i = 0; i < CONNECTIONS; i++) {
        const client = random.pick(['fast', 'slow', 'aborting'] as const);
        const exchanges = Array.from({ length: random.between(1, 12) }, randomExchange);
        const received = await exchange(replica.port, exchanges, client);
        // An aborted response is incomplete.
        const responses = client === 'aborting' ? completeResponsesIn(received) : responsesIn(received);
        if (client !== 'aborting') expect(responses).to.have.length(exchanges.length);
        for (const [j, response] of responses.entries()) {
          expectExchange(exchanges[j], response);
          found.add(`coding ${response.headers['content-encoding'] ?? 'none'}`);
        }
        compared[client] += responses.length;
        for (const { organizationId, status } of exchanges) found.add(`${organizationId} ${status}`);
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

const MISSING = { status: 404, body: '{"detail":"There is no such record."}' };

/** Orders the fields of `pickupPoint`, which are served in the order of the import. That of all others is declared. */
function inOrder(text: string): string {
  const parsed: unknown = JSON.parse(text, (name, value: unknown) =>
    name === 'pickupPoint' && typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return JSON.stringify(parsed);
}

/** Sends requests over one connection, and returns all received bytes as Latin-1. */
async function exchange(port: number, exchanges: readonly Exchange[], client: Client): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(exchanges.map(({ request }) => request).join(''));
  let received = '';
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    received += chunk.toString('latin1');
    if (client === 'aborting') {
      socket.resetAndDestroy();
      break;
    }
    // The last response ends the last request; its id is in no other.
    if (
      received.includes(exchanges[exchanges.length - 1].requestId) &&
      isComplete(received, exchanges.length)
    )
      break;
    // Between two reads, the responses of others are written.
    for (let i = 0; client === 'slow' && i < 20; i++) await turn();
  }
  socket.destroy();
  return received;
}

function isComplete(received: string, count: number): boolean {
  return completeResponsesIn(received).length === count;
}

/** Returns the responses before the first incomplete one. */
function completeResponsesIn(received: string): RawResponse[] {
  const starts = [...received.matchAll(/HTTP\/1\.1 \d\d\d /g)].map(({ index }) => index);
  for (const end of [received.length, ...starts.reverse()]) {
    try {
      return responsesIn(received.slice(0, end));
    } catch {
      // The last one is incomplete.
    }
  }
  return [];
}
