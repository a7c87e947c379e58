import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import type { OrganizationImage } from '../../src/store/organization-image.ts';
import { byDepth } from '../support/depth.ts';
import { Oracle } from '../support/oracle/oracle.ts';
import { randomRead, type Read } from '../support/oracle/random-read.ts';
import { buildWorld, randomOrganizations } from '../support/oracle/random-snapshot.ts';
import { exchange, type RawResponse, responsesIn, wholeResponsesIn } from '../support/raw-responses.ts';
import { readSnapshot } from '../support/read-snapshot.ts';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const SEED = 20_261_123;
const THREADS = 2;
const CLIENTS = 12;
/** Connections for each client, with up to 12 pipelined requests each. */
const CONNECTIONS = byDepth({ short: 30, deep: 900 });

interface Question extends Read {
  readonly organizationId: string;
  readonly requestId: string;
  /** The bytes of the request. */
  readonly request: string;
}

type Client = 'fast' | 'slow' | 'aborting';

describe(`${CLIENTS} clients with alternating keys, over ${THREADS} threads (seed ${SEED})`, function () {
  this.timeout(byDepth({ short: 300_000, deep: 600_000 }));
  const inFolder = folderForAll();
  const random = new Random(SEED);
  const organizations = randomOrganizations(random, 60);
  const oracles = new Map(organizations.map((one) => [one.organizationId, new Oracle(one)]));
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
    const read = randomRead(random, organization, organizations);
    const requestId = `${organizationId}-${count++}`;
    const headers = [
      'Host: x',
      `Authorization: Bearer ${credentials.get(organizationId) ?? ''}`,
      `X-Request-Id: ${requestId}`,
      'Service-API-Version: preview',
      ...(random.chance(0.5) ? ['Accept-Encoding: gzip, deflate, br, zstd'] : []),
    ];
    const request = `GET ${read.target} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`;
    return { ...read, organizationId, requestId, request };
  }

  function expectAnswer(question: Question, response: RawResponse) {
    const { organizationId, request, requestId, difference } = question;
    expect(response.headers['x-request-id'], request).to.equal(requestId);
    expect(difference(response, oracles.get(organizationId) ?? expect.fail()), request).to.equal(undefined);
    const image = images.find((one) => one.organizationId === organizationId);
    const digests = Object.values(image?.lists ?? {}).map(({ digest }) => digest);
    const [, digest] = /^"(.*?)\./.exec(response.headers['etag'] ?? '') ?? [];
    if (response.status === 200) expect(digest).to.be.oneOf(digests);
    if (!request.includes('Accept-Encoding'))
      expect(response.headers).not.to.have.property('content-encoding');
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

  it('each get the responses of the oracle for their key, however they read', async () => {
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
          found.add(`${questions[j].organizationId} ${response.status}`);
          found.add(`coding ${response.headers['content-encoding'] ?? 'none'}`);
        }
        compared[client] += responses.length;
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
