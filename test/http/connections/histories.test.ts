import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Express } from 'express';
import fc from 'fast-check';
import { OPERATIONS } from '../../../src/contract/operations.ts';
import { CONNECTIONS, UNSENT_KB } from '../../../src/counts/open-counts.ts';
import { Api } from '../../../src/http/app.ts';
import { Listener } from '../../../src/http/connections/listener.ts';
import { sendStream } from '../../../src/http/response/stream.ts';
import { createServer } from '../../../src/http/server.ts';
import { StoreRegistry } from '../../../src/store/registry/store-registry.ts';
import { fixture, type OrganizationId } from '../../support/api-fixture.ts';
import { byDepth } from '../../support/depth.ts';
import { RawClient } from '../../support/raw-client.ts';
import { serverDependencies } from '../../support/test-api.ts';

const HISTORIES = { seed: 20261123, numRuns: byDepth({ short: 40, deep: 400 }) };
const MAX_PIPELINED = 32;
const FLOOD = 100;
/** Together more than the buffers of both sockets hold. */
const CHUNKS = Array.from({ length: 60 }, (_, i) => Buffer.alloc(0x20000, String.fromCharCode(65 + i)));
const PAGE = Buffer.concat(CHUNKS);
const STREAM = `${CHUNKS.map((chunk) => `20000\r\n${String(chunk)}\r\n`).join('')}0\r\n\r\n`;
const GRACE_SECONDS = 20;
const HEAD = /^HTTP\/1\.1 (\d{3}) [^\r]*\r\n(.*?)\r\n\r\n/s;

interface Expected {
  readonly status: number;
  /** The bytes after the head, where they matter. */
  readonly body?: string;
}

/** The targets of requests, and their responses with and without a key. */
const TARGETS = {
  '/healthz': [{ status: 200 }, { status: 200 }],
  '/v1/events': [{ status: 200 }, { status: 400 }],
  '/v1/none': [{ status: 404 }, { status: 404 }],
  '/page': Array<Expected>(2).fill({ status: 200, body: PAGE.toString() }),
  '/stream': Array<Expected>(2).fill({ status: 200, body: STREAM }),
} satisfies Record<string, Expected[]>;
type Target = keyof typeof TARGETS;

/** Input after which the server closes the connection, and the status of the response. */
const LAST_INPUTS = {
  'malformed input': ['nonsense\r\n\r\n', 400],
  'a malformed line that follows a well-formed one': ['G\u00c9T /v1/events HTTP/1.1\r\n\r\n', 400],
  'an unknown method': ['FETCH /v1/events HTTP/1.1\r\nHost: x\r\n\r\n', 405],
  'a long body': [
    `POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(1000)}`,
    413,
  ],
} as const;
type LastInput = keyof typeof LAST_INPUTS;

/** What a client does. */
type Act =
  | { readonly send: readonly Target[] }
  | { readonly last: LastInput }
  | 'flood'
  | 'half a head'
  | 'stops reading'
  | 'reads'
  | 'sends no more'
  | 'resets'
  | 'waits';

const target = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Target>('/v1/events') },
  { weight: 3, arbitrary: fc.constantFrom<Target[]>('/healthz', '/v1/none', '/page', '/stream') },
);
const lastInput = fc.constantFrom(...(Object.keys(LAST_INPUTS) as LastInput[]));
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ send: fc.array(target, { minLength: 1, maxLength: 4 }) }) },
  { weight: 6, arbitrary: fc.constantFrom('stops reading', 'reads', 'half a head', 'waits') },
  { weight: 1, arbitrary: fc.record({ last: lastInput }) },
  { weight: 1, arbitrary: fc.constantFrom('sends no more', 'resets') },
  { weight: 1, arbitrary: fc.constant('flood') },
);
const client = fc.record({
  key: fc.constantFrom<OrganizationId | undefined>(undefined, 'north', 'south'),
  /** Whether it has a response before the history begins. */
  isKnown: fc.boolean(),
});
const histories = fc.record({
  clients: fc.array(client, { minLength: 2, maxLength: 6 }),
  steps: fc.array(fc.record({ by: fc.nat(5), act }), { maxLength: 30 }),
  drains: fc.boolean(),
});

/** A client, and the model of what it may receive. */
class ModelClient extends RawClient {
  readonly key: OrganizationId | undefined;
  readonly #authorization: string;
  /** The responses to its requests. */
  readonly #expected: Expected[] = [];
  readonly #complete: (Required<Expected> & { readonly closes: boolean })[] = [];
  #maxResponses = Infinity;
  /** Whether the server, or the client itself, may have ended the connection before the last response. */
  #mayMissResponses = false;
  #sendsNoMore = false;
  /** Whether its last input is one after which the connection is closed. */
  #hasEnded = false;
  /** The rest of a request whose beginning is sent. */
  #half = '';

  constructor(port: number, key: OrganizationId | undefined, authorization: string) {
    super(port);
    this.key = key;
    this.#authorization = key === undefined ? '' : `Authorization: ${authorization}\r\n`;
  }

  /** Takes the complete responses out of the received text. Returns all so far. */
  get complete() {
    for (;;) {
      const [head, status, fields] = HEAD.exec(this.received.slice(0, 4096)) ?? [];
      if (head === undefined) return this.#complete;
      const length = Number(/^content-length: (\d+)$/im.exec(fields)?.[1] ?? STREAM.length);
      const end = head.length + length;
      if (this.received.length < end) return this.#complete;
      const body = this.received.slice(head.length, end);
      this.#complete.push({ status: Number(status), closes: /^connection: close$/im.test(fields), body });
      this.received = this.received.slice(end);
    }
  }

  get #pending(): number {
    return this.#expected.length - this.complete.length;
  }

  get #isOver(): boolean {
    return this.#hasEnded || this.#sendsNoMore || this.socket.closed;
  }

  request(path: Target, head = ''): void {
    const [withKey, withoutKey] = TARGETS[path];
    this.#send(
      `GET ${path} HTTP/1.1\r\nHost: x\r\n${this.#authorization}${head}\r\n`,
      this.key === undefined ? withoutKey : withKey,
    );
  }

  act(what: Act): void {
    if (this.#isOver) return;
    if (typeof what === 'object' && 'send' in what) for (const path of what.send) this.request(path);
    else if (typeof what === 'object') {
      const [input, status] = LAST_INPUTS[what.last];
      this.#send(input, { status });
      this.#hasEnded = true;
    } else if (what === 'stops reading') this.socket.pause();
    else if (what === 'reads') this.socket.resume();
    else if (what === 'half a head' && this.#half === '') {
      this.#send('GET /healthz HTTP/1.1\r\n', { status: 200 });
      this.#half = 'Host: x\r\n\r\n';
    } else if (what === 'sends no more') {
      this.#completeHalf();
      this.socket.end();
      this.#sendsNoMore = true;
      this.#mayMissResponses = true;
    } else if (what === 'resets') {
      this.socket.resetAndDestroy();
      this.#hasEnded = true;
      this.#mayMissResponses = true;
    } else if (what === 'flood') {
      this.#maxResponses = this.#expected.length + MAX_PIPELINED;
      const requests = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(FLOOD);
      this.#send(requests, ...Array<Expected>(FLOOD).fill({ status: 200 }));
      this.#hasEnded = true;
    }
  }

  /** Reads all that comes, and sends a last request, in a drain when there is no pending one. */
  async finish(drains: boolean): Promise<void> {
    this.socket.resume();
    this.#completeHalf();
    // The first of several responses closes the connection, and a request that arrives after it resets the connection.
    if (drains && this.#pending > 1) this.#mayMissResponses = true;
    while (drains && this.#pending > 0 && !this.socket.closed) await delay(5);
    if (!this.#isOver) this.request('/healthz', 'Connection: close\r\n');
    if ((await Promise.race([this.ended, delay(30_000, 'late', { ref: false })])) === 'late')
      expect.fail(`a connection stays open: ${this.received.slice(-300)}`);
  }

  /** States what the client has received, when its connection has ended. */
  check(): void {
    const { complete, received: rest, error } = this;
    const seen = JSON.stringify({
      expected: this.#expected.map(({ status }) => status),
      complete: complete.map(({ status, closes }) => [status, closes]),
      ...{ error, rest: rest.slice(0, 300), length: rest.length },
    });
    const most = Math.min(this.#expected.length, this.#maxResponses);
    expect(complete.length, `number of responses: ${seen}`).to.be.at.most(most);
    for (const [i, { status, body = complete[i].body }] of this.#expected
      .slice(0, complete.length)
      .entries()) {
      expect(complete[i].status, `status of response ${i}: ${seen}`).to.equal(status);
      expect(complete[i].body === body, `body of response ${i}: ${seen}`).to.equal(true);
    }
    const closing = complete.findIndex(({ closes }) => closes);
    if (closing >= 0)
      expect(closing, `nothing follows the last response: ${seen}`).to.equal(complete.length - 1);
    if (this.#sendsNoMore && rest !== '')
      expect(error, `a cut response is reset: ${seen}`).to.equal('ECONNRESET');
    if (this.#mayMissResponses) return;
    expect(rest, `no incomplete response: ${seen}`).to.equal('');
    // The server closes a connection with a response that says so, or not at all.
    if (complete.length < this.#expected.length) expect(closing, `all responses: ${seen}`).to.be.at.least(0);
  }

  #send(text: string, ...expected: Expected[]): void {
    this.#completeHalf();
    this.socket.write(text);
    this.#expected.push(...expected);
    // The server counts those that it has not answered, which are fewer.
    if (this.#pending > MAX_PIPELINED) this.#mayMissResponses = true;
  }

  #completeHalf(): void {
    if (this.#half !== '') this.socket.write(this.#half);
    this.#half = '';
  }
}

describe(`Random histories of connections (seed ${HISTORIES.seed})`, function () {
  this.timeout(byDepth({ short: 300_000, deep: 3_600_000 }));

  it('send each client the responses to its requests, whole and in order, and leave nothing open', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async ({ clients: kinds, steps, drains }) => {
        const { made, counts, connections, listener } = await startServer();
        const reusePort = process.platform === 'linux';
        const port = await listener.listen({ port: 0, host: '127.0.0.1', reusePort });
        const connect = (key: OrganizationId | undefined) =>
          new ModelClient(port, key, key === undefined ? '' : made.authorization[key]);
        const clients = kinds.map(({ key }) => connect(key));
        for (const [i, known] of clients.entries()) {
          if (!kinds[i].isKnown) continue;
          known.request('/v1/events');
          while (known.complete.length === 0) await delay(1);
        }
        // Another client, which sends one request at a time.
        const history = new AbortController();
        const other = (async () => {
          for (let i = 0; !history.signal.aborted; i++) {
            const client = connect('north');
            client.request('/v1/events', 'Connection: close\r\n');
            await client.ended;
            client.check();
            expect(client.complete, `request ${i} of another client`).to.have.length(1);
            await delay(5);
          }
        })();
        for (const { by, act: what } of steps) {
          if (what === 'waits') await delay(10);
          else clients[by % clients.length].act(what);
        }
        history.abort();
        await other;
        const noticed = Promise.withResolvers<undefined>();
        const drained = drains ? listener.drain(noticed.promise, GRACE_SECONDS) : undefined;
        await Promise.all(clients.map((client) => client.finish(drains)));
        for (const client of clients) client.check();
        noticed.resolve(undefined);
        await (drained ?? listener.drain(noticed.promise, GRACE_SECONDS));
        while (connections.open.size > 0) await delay(1);
        expect([counts.inAll(CONNECTIONS), counts.inAll(UNSENT_KB)]).to.deep.equal([0, 0]);
      }),
      HISTORIES,
    );
  });
});

async function startServer() {
  const made = await fixture();
  const stores = new StoreRegistry();
  stores.swap('fixture', made.image);
  const defaults = serverDependencies();
  const dependencies = {
    ...defaults,
    operations: OPERATIONS,
    stores: () => stores.view,
    keys: () => made.ring,
    addDocuments: (app: Express) => {
      app.get('/page', (_request, response) => {
        response.end(PAGE);
      });
      app.get('/stream', (_request, response, next) => {
        sendStream(response, [], () => CHUNKS, undefined).catch(next);
      });
      return [];
    },
  };
  const { server, connections } = createServer(new Api(dependencies), dependencies);
  return { made, counts: defaults.counts, connections, listener: new Listener(server, connections) };
}
