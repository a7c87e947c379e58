import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Express } from 'express';
import fc from 'fast-check';
import { OPERATIONS } from '../../../src/contract/operations.ts';
import { newNetworksMemory } from '../../../src/counts/networks.ts';
import { CONNECTIONS, UNSENT_KB } from '../../../src/counts/open-counts.ts';
import { createApi } from '../../../src/http/app.ts';
import { beginGrace, Listener, newDrainTimes, prepareDrain } from '../../../src/http/connections/drain.ts';
import { sendStream } from '../../../src/http/response/stream.ts';
import { createServer } from '../../../src/http/server.ts';
import { StoreRegistry } from '../../../src/store/registry/store-registry.ts';
import { fixture, type OrganizationId } from '../../support/api-fixture.ts';
import { byDepth } from '../../support/depth.ts';
import { RawClient } from '../../support/raw-client.ts';
import { ownNetworks, serverDependencies } from '../../support/test-api.ts';

const HISTORIES = { seed: 20261123, numRuns: byDepth({ short: 40, deep: 400 }) };
const MAX_PIPELINED = 32;
const FLOOD = 100;
/** More than the buffers of both sockets hold. */
const CHUNK = Buffer.alloc(128 * 1024, 'x');
const CHUNKS = 60;
const PAGE = Buffer.concat(Array(CHUNKS).fill(CHUNK));
const GRACE_SECONDS = 20;
const QUIET_MS = 30;

/** The targets of requests, and the statuses of their responses with and without a key. */
const TARGETS = {
  '/healthz': [200, 200],
  '/v1/events': [200, 400],
  '/v1/none': [404, 404],
  '/page': [200, 200],
  '/stream': [200, 200],
} as const;
type Target = keyof typeof TARGETS;

/** What a client does. */
type Act =
  | { readonly send: readonly Target[] }
  | 'flood'
  | 'half a head'
  | 'malformed'
  | 'long body'
  | 'stops reading'
  | 'reads'
  | 'sends no more'
  | 'resets'
  | 'waits';

const target: fc.Arbitrary<Target> = fc.oneof(
  { weight: 3, arbitrary: fc.constant('/v1/events') },
  { weight: 3, arbitrary: fc.constantFrom('/healthz', '/v1/none', '/page', '/stream') },
);
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ send: fc.array(target, { minLength: 1, maxLength: 4 }) }) },
  { weight: 6, arbitrary: fc.constantFrom('stops reading', 'reads', 'half a head', 'waits') },
  { weight: 1, arbitrary: fc.constant('flood') },
  { weight: 2, arbitrary: fc.constantFrom('malformed', 'long body', 'sends no more', 'resets') },
);
const client = fc.record({
  network: fc.constantFrom('127.0.0.2', '127.0.0.3'),
  key: fc.constantFrom<OrganizationId | undefined>(undefined, 'north', 'south'),
  /** Whether it has a response before the history begins. */
  isKnown: fc.boolean(),
});
const histories = fc.record({
  clients: fc.array(client, { minLength: 2, maxLength: 6 }),
  steps: fc.array(fc.record({ by: fc.nat(5), act }), { maxLength: 30 }),
  drains: fc.boolean(),
});

interface Response {
  readonly status: number;
  readonly closes: boolean;
  readonly length: number;
}

/** Parses received bytes into the complete responses and the length of an incomplete one. */
function parse(received: string): { readonly complete: readonly Response[]; readonly rest: string } {
  const complete: Response[] = [];
  let rest = received;
  for (;;) {
    const [head, status, fields] =
      /^HTTP\/1\.1 (\d{3}) [^\r]*\r\n(.*?\r\n)\r\n/s.exec(rest.slice(0, 4096)) ?? [];
    if (head === undefined) return { complete, rest };
    let at = head.length;
    let length = 0;
    if (/^transfer-encoding: chunked\r$/im.test(fields)) {
      for (let size = -1; size !== 0;) {
        const [line, digits] = /^([\da-f]+)\r\n/.exec(rest.slice(at, at + 16)) ?? [];
        if (line === undefined) return { complete, rest };
        size = parseInt(digits, 16);
        at += line.length + size + 2;
        length += size;
      }
    } else {
      length = Number(/^content-length: (\d+)\r$/im.exec(fields)?.[1] ?? 0);
      at += length;
    }
    if (at > rest.length) return { complete, rest };
    complete.push({ status: Number(status), closes: /^connection: close\r$/im.test(fields), length });
    rest = rest.slice(at);
  }
}

/** A client, and the model of what it may receive. */
class ModelClient extends RawClient {
  readonly network: string;
  readonly key: OrganizationId | undefined;
  /** The status of the response to each request, and the length of its body if it is known. */
  readonly expected: { readonly status: number; readonly length: number | undefined }[] = [];
  /** The most responses that the client may receive, once it has sent a flood. */
  limit = Infinity;
  /** Whether the server, or the client itself, may have ended the connection before the last response. */
  mayMissResponses = false;
  sendsNoMore = false;
  hasReset = false;
  /** Whether its last input is one after which the server closes the connection. */
  isLast = false;
  #half = '';
  readonly #authorization: string;

  constructor(
    port: number,
    network: string,
    key: OrganizationId | undefined,
    credential: string | undefined,
  ) {
    super(port, network);
    this.network = network;
    this.key = key;
    this.#authorization = credential === undefined ? '' : `Authorization: ${credential}\r\n`;
  }

  get isOver(): boolean {
    return this.isLast || this.sendsNoMore || this.hasReset || this.socket.closed;
  }

  /** Whether the server has seen its key. */
  get hadValidKey(): boolean {
    const { complete } = parse(this.received);
    return complete.some(({ status }, i) => status === 200 && this.expected[i]?.length === undefined);
  }

  request(path: Target, head = ''): void {
    const [withKey, without] = TARGETS[path];
    const isLong = path === '/page' || path === '/stream';
    // A page of the API has a length that does not matter here.
    const isKeyed = path === '/v1/events';
    this.#write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${this.#authorization}${head}\r\n`);
    const status = this.key === undefined ? without : withKey;
    this.expected.push({ status, length: isLong ? PAGE.length : isKeyed ? undefined : NaN });
  }

  act(what: Act, all: readonly ModelClient[]): void {
    if (this.isOver) return;
    if (typeof what === 'object') for (const path of what.send) this.request(path);
    else if (what === 'stops reading') this.socket.pause();
    else if (what === 'reads') this.socket.resume();
    else if (what === 'half a head' && this.#half === '') {
      const head = `GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`;
      this.#half = head.slice(20);
      this.socket.write(head.slice(0, 20));
      this.expected.push({ status: 200, length: NaN });
    } else if (what === 'malformed') this.#end('nonsense\r\n\r\n', 400);
    else if (what === 'long body') {
      this.#end(
        `POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(1000)}`,
        413,
      );
    } else if (what === 'sends no more') {
      this.completeHalf();
      this.socket.end();
      this.sendsNoMore = true;
      this.mayMissResponses = true;
    } else if (what === 'resets') {
      this.hasReset = true;
      this.mayMissResponses = true;
      this.socket.resetAndDestroy();
    } else if (what === 'flood') {
      this.limit = this.expected.length + MAX_PIPELINED;
      this.#write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(FLOOD));
      for (let i = 0; i < FLOOD; i++) this.expected.push({ status: 200, length: NaN });
      this.isLast = true;
      this.mayMissResponses = true;
      for (const other of all) {
        const isOther = other.key !== undefined && other.key !== this.key && other.hadValidKey;
        if (other.network === this.network && !isOther) other.mayMissResponses = true;
      }
    }
  }

  /** Reads all that comes, and sends a last request, in a drain when there is no pending one. */
  async finish(drains: boolean): Promise<void> {
    this.socket.resume();
    this.completeHalf();
    const hasPending = (most: number) => this.expected.length - parse(this.received).complete.length > most;
    // The first of several responses closes the connection, and a request that arrives after it resets the connection.
    if (drains && hasPending(1)) this.mayMissResponses = true;
    while (drains && hasPending(0) && !this.socket.closed) await delay(5);
    if (!this.isOver) this.request('/healthz', 'Connection: close\r\n');
  }

  completeHalf(): void {
    if (this.#half !== '') this.socket.write(this.#half);
    this.#half = '';
  }

  /** States what the client has received, when its connection has ended. */
  check(): void {
    const { complete, rest } = parse(this.received);
    const { expected, error } = this;
    const seen = JSON.stringify({ expected, complete, error, rest: rest.slice(0, 300), length: rest.length });
    expect(complete.length, `number of responses: ${seen}`).to.be.at.most(
      Math.min(expected.length, this.limit),
    );
    for (const [i, { status, length }] of complete.entries()) {
      expect(status, `status of response ${i}: ${seen}`).to.equal(expected[i]?.status);
      if ((expected[i]?.length ?? NaN) > 0) expect(length, `length of response ${i}`).to.equal(PAGE.length);
    }
    const closing = complete.findIndex(({ closes }) => closes);
    if (closing >= 0)
      expect(closing, `nothing follows the last response: ${seen}`).to.equal(complete.length - 1);
    if (this.sendsNoMore && rest !== '')
      expect(error, `a cut response is reset: ${seen}`).to.equal('ECONNRESET');
    if (this.mayMissResponses) return;
    expect(rest, `no incomplete response: ${seen}`).to.equal('');
    // The server closes a connection with a response that says so, or not at all.
    if (complete.length < expected.length) expect(closing, `all responses: ${seen}`).to.be.at.least(0);
  }

  #end(input: string, status: number): void {
    this.#write(input);
    this.expected.push({ status, length: NaN });
    this.isLast = true;
  }

  #write(text: string): void {
    this.completeHalf();
    this.socket.write(text);
    const pending = this.expected.length - parse(this.received).complete.length;
    // The server counts those that it has not answered, which are fewer.
    if (pending >= MAX_PIPELINED) this.mayMissResponses = true;
  }
}

describe(`Random histories of connections (seed ${HISTORIES.seed})`, function () {
  this.timeout(byDepth({ short: 300_000, deep: 3_600_000 }));

  it('send each client the responses to its requests, whole and in order, and leave nothing open', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async ({ clients: kinds, steps, drains }) => {
        const { made, memory, counts, connections, listener, drain, times } = await startServer();
        const port = await listener.listen({
          port: 0,
          host: '127.0.0.1',
          reusePort: process.platform === 'linux',
        });
        const credentialOf = (key: OrganizationId | undefined) => key && made.authorization[key];
        const clients = kinds.map(
          ({ network, key }) => new ModelClient(port, network, key, credentialOf(key)),
        );
        for (const [i, known] of clients.entries()) {
          if (!kinds[i].isKnown) continue;
          known.request('/v1/events');
          while (parse(known.received).complete.length === 0) await delay(1);
        }
        // A client of another network, which sends one request at a time.
        const history = new AbortController();
        const other = (async () => {
          for (let i = 0; !history.signal.aborted; i++) {
            const client = new ModelClient(port, '127.0.0.4', 'north', credentialOf('north'));
            client.request('/v1/events', 'Connection: close\r\n');
            await client.ended;
            client.check();
            expect(parse(client.received).complete, `request ${i} of another network`).to.have.length(1);
            await delay(5);
          }
        })();
        for (const { by, act: what } of steps) {
          if (what === 'waits') await delay(10);
          else clients[by % clients.length].act(what, clients);
        }
        history.abort();
        await other;
        let drained = Promise.resolve();
        if (drains) {
          beginGrace(times);
          drained = drain(GRACE_SECONDS, false);
        }
        await Promise.all(clients.map((client) => client.finish(drains)));
        for (const client of clients)
          if ((await Promise.race([client.ended, delay(30_000, 'late', { ref: false })])) === 'late')
            expect.fail(
              `a connection stays open: ${JSON.stringify(client.expected)} ${client.received.slice(-300)}`,
            );
        for (const client of clients) client.check();
        await drained;
        listener.close();
        while (connections.open.size > 0) await delay(1);
        expect(counts.inAll(CONNECTIONS)).to.equal(0);
        expect(counts.inAll(UNSENT_KB)).to.equal(0);
        expect(memory.words.every((word) => (word & 0xfffffn) === 0n)).to.equal(true);
      }),
      HISTORIES,
    );
  });
});

async function startServer() {
  const made = await fixture();
  const stores = new StoreRegistry();
  stores.swap('fixture', made.image);
  const memory = newNetworksMemory();
  const networks = ownNetworks(memory);
  const defaults = serverDependencies();
  const addDocuments = (app: Express) => {
    app.get('/page', (_request, response) => {
      response.end(PAGE);
    });
    app.get('/stream', (_request, response, next) => {
      const chunks = () => Array.from({ length: CHUNKS }, () => CHUNK);
      sendStream(response, [], chunks, undefined).catch(next);
    });
    return [];
  };
  const dependencies = {
    ...defaults,
    operations: OPERATIONS,
    stores: () => stores.view,
    keys: () => made.keys,
    networks,
    addDocuments,
  };
  const { server, connections } = createServer(createApi(dependencies), dependencies);
  const listener = new Listener(server);
  const times = newDrainTimes();
  const drain = prepareDrain(server, listener, times, connections, QUIET_MS);
  return { made, memory, counts: defaults.counts, connections, listener, drain, times };
}
