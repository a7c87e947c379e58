import { once } from 'node:events';
import { expect } from 'chai';
import type { Express } from 'express';
import { CONNECTIONS, type OpenCounts, UNSENT_KB } from '../../../src/counts/open-counts.ts';
import { RequestMetrics, sumMetrics } from '../../../src/counts/request-metrics.ts';
import { RawClient } from '../../support/raw-client.ts';
import { close, listen } from '../../support/serve.ts';
import { givenApi, serverDependencies, serverWith, TestApi } from '../../support/test-api.ts';

const MAX_PIPELINED = 32;
const ATTACKER = '127.0.0.2';
const OTHER = '127.0.0.3';
const PROXY = '127.0.0.4';

/** Returns the statuses of all responses in a text. */
function statusesIn(received: string): number[] {
  return Array.from(received.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status));
}

const endsIn = (metrics: RequestMetrics) => Object.fromEntries(sumMetrics([metrics]).ends);

describe('Pipelined requests', () => {
  const { metrics, counts } = serverDependencies();
  const given = givenApi(() => ({ metrics, counts }));
  const get = (target: string) =>
    `GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: ${given.api.authorization('north')}\r\n\r\n`;

  const closing = (target: string) => get(target).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');

  /** Sends requests at once. Returns all bytes received until the server closes the connection. */
  async function pipeline(requests: string, from?: string): Promise<string> {
    const client = await connectTo(given.api.port, from);
    client.socket.write(Buffer.from(requests, 'latin1'));
    await client.ended;
    return client.received;
  }

  it('are answered in their order', async () => {
    const targets = ['/v1/events', '/v1/none', '/v1/events?page=0', '/v1/events?page=99', '/healthz'];
    const received = await pipeline(targets.map(get).join('') + closing('/healthz'));
    expect(statusesIn(received)).to.deep.equal([200, 404, 400, 204, 200, 200]);
  });

  it('are answered up to a limit, and the last response closes the connection', async () => {
    const before = endsIn(metrics)['pipelining'];
    const received = await pipeline('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1000), ATTACKER);
    expect(statusesIn(received)).to.deep.equal(Array(MAX_PIPELINED).fill(200));
    expect(received.match(/^Connection: (.*)$/gm)).to.deep.equal([
      ...Array<string>(MAX_PIPELINED - 1).fill('Connection: keep-alive'),
      'Connection: close',
    ]);
    expect(endsIn(metrics)['pipelining']).to.equal(before + 1);
  });

  it('end with a response that closes the connection', async () => {
    const received = await pipeline(get('/v1/events') + closing('/v1/events') + get('/v1/events').repeat(5));
    expect(statusesIn(received)).to.deep.equal([200, 200]);
    await expectEventually(() => counts.inAll(UNSENT_KB) === 0);
  });

  it('may be any number on one connection, within the limit at a time', async () => {
    const client = await connectTo(given.api.port);
    for (let i = 0; i < 10; i++) {
      client.socket.write(get('/healthz').repeat(MAX_PIPELINED - 1));
      await client.receives(() => statusesIn(client.received).length === (i + 1) * (MAX_PIPELINED - 1));
    }
    client.socket.destroy();
  });

  for (const [kind, input, status] of [
    ['malformed input', 'nonsense\r\n\r\n', 400],
    ['an unknown method', 'FETCH /v1/events HTTP/1.1\r\nHost: x\r\n\r\n', 405],
    ['a malformed line that follows a well-formed one', 'G\u00c9T /v1/events HTTP/1.1\r\n\r\n', 400],
  ] as const) {
    it(`are answered before ${kind} is refused`, async () => {
      const received = await pipeline(get('/v1/events').repeat(3) + input);
      expect(statusesIn(received)).to.deep.equal([200, 200, 200, status]);
    });
  }
});

describe('The limit of connections', () => {
  /** Opens connections one after the other. Returns those that the server accepts. */
  async function open(api: TestApi, count: number, from?: string, key?: string): Promise<RawClient[]> {
    const clients: RawClient[] = [];
    for (let i = 0; i < count; i++) {
      const client = await connectTo(api.port, from);
      const head = key === undefined ? '' : `Authorization: ${key}\r\n`;
      client.socket.write(`GET /v1/events HTTP/1.1\r\nHost: x\r\n${head}\r\n`);
      await client.receives(() => client.received !== '');
      if (client.received !== '') clients.push(client);
    }
    return clients;
  }

  it('for an address leaves the others unaffected', async () => {
    const metrics = new RequestMetrics();
    await using api = await TestApi.start({ metrics, config: { maxConnectionsPerAddress: 5 } });
    const accepted = await open(api, 8, ATTACKER);
    expect(accepted).to.have.length(5);
    expect(endsIn(metrics)).to.include({ 'limit-of-address': 3, limit: 0 });
    expect(await open(api, 5, OTHER)).to.have.length(5);
    accepted[0]?.socket.destroy();
    await expectEventually(async () => (await open(api, 1, ATTACKER)).length === 1);
  });

  it('for an address does not apply to trusted proxies', async () => {
    await using api = await TestApi.start({ config: { maxConnectionsPerAddress: 2, trustProxy: [OTHER] } });
    expect(await open(api, 4, OTHER)).to.have.length(4);
    expect(await open(api, 4, ATTACKER)).to.have.length(2);
  });

  it('in all prefers connections that had a valid key, of any address', async () => {
    const metrics = new RequestMetrics();
    const { counts } = serverDependencies();
    counts.limit = 6;
    await using api = await TestApi.start({ counts, metrics });
    const key = api.authorization('north');
    const authenticated = [...(await open(api, 2, ATTACKER, key)), ...(await open(api, 2, OTHER, key))];
    const silent = [...(await open(api, 1, ATTACKER)), ...(await open(api, 1, OTHER))];
    expect(await open(api, 1, OTHER, key)).to.have.length(1);
    await silent[0]?.ended;
    expect(await open(api, 1, ATTACKER, key)).to.have.length(1);
    await silent[1]?.ended;
    expect(endsIn(metrics)).to.include({ limit: 2, 'limit-of-address': 0 });
    expect(await open(api, 2, OTHER)).to.have.length(0);
    expect(endsIn(metrics)).to.include({ limit: 4 });
    for (const { socket } of authenticated) expect(socket.closed).to.equal(false);
    await api.stop();
    await expectEventually(() => counts.inAll(CONNECTIONS) === 0);
  });
});

describe('A client that does not read', () => {
  const BODY = Buffer.alloc(8 * 1024 * 1024);
  /** The path at which the server shuts its connection down without a response, and then ends it. */
  const SHUT_DOWN = '/shut-down';

  async function withServer(
    config: Partial<ReturnType<typeof serverDependencies>['config']>,
    test: (port: number, open: OpenCounts, metrics: RequestMetrics) => Promise<void>,
  ): Promise<void> {
    const addRoutes = (app: Express) => {
      app.use(({ headers, path }, response) => {
        const { connection } = response.locals.context;
        connection.keyId = headers.authorization;
        if (path !== SHUT_DOWN) response.writeHead(200).end(BODY);
        else {
          connection.socket.end();
          connection.end();
        }
      });
    };
    const defaults = serverDependencies();
    const server = serverWith(addRoutes, { ...defaults, config: { ...defaults.config, ...config } });
    try {
      await test(await listen(server), defaults.counts, defaults.metrics);
    } finally {
      await close(server);
    }
    await expectEventually(() => defaults.counts.inAll(UNSENT_KB) === 0);
  }

  /** Sends requests without reading the responses. */
  async function ask(port: number, from?: string, key = ''): Promise<RawClient> {
    const client = await connectTo(port, from);
    client.socket.pause();
    client.socket.write(`GET / HTTP/1.1\r\nHost: x\r\nAuthorization: ${key}\r\n\r\n`.repeat(8));
    return client;
  }

  /** Waits, as one of several such clients, until a response waits to be sent. */
  async function stall(port: number, counts: OpenCounts, connections = 1): Promise<RawClient> {
    const client = await ask(port);
    await expectEventually(() => counts.inAll(UNSENT_KB) >= (connections * BODY.length) / 1024);
    return client;
  }

  it('makes one response wait, whose bytes are counted', async () => {
    await withServer({}, async (port, counts) => {
      for (let i = 1; i <= 3; i++) await stall(port, counts, i);
    });
  });

  /** Sends a byte at a time while a client waits, and expects the end of its connection for lack of progress. */
  async function expectNoProgress({ socket }: RawClient, counts: OpenCounts, metrics: RequestMetrics) {
    const drip = setInterval(() => socket.write('x'), 100);
    await expectEventually(() => counts.inAll(UNSENT_KB) === 0);
    clearInterval(drip);
    expect(endsIn(metrics)['no-progress']).to.be.at.least(1);
  }

  it('is disconnected after the time without progress, though it sends more bytes', async () => {
    await withServer({ writeTimeoutSeconds: 0.5 }, async (port, counts, metrics) => {
      const client = await stall(port, counts);
      client.socket.write('GET / HTTP/1.1\r\nX: ');
      await expectNoProgress(client, counts, metrics);
    });
  });

  it('is disconnected after the time without progress, although a flood comes from its address', async () => {
    await withServer({ writeTimeoutSeconds: 1.5 }, async (port, counts, metrics) => {
      const client = await stall(port, counts);
      const flood = await connectTo(port, ATTACKER);
      flood.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2000));
      await flood.ended;
      await expectNoProgress(client, counts, metrics);
    });
  });

  it('is disconnected in the moment in which its connection is shut down', async () => {
    await withServer({}, async (port, counts) => {
      const { socket } = await connectTo(port);
      socket.write(`GET ${SHUT_DOWN} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await once(socket, 'close');
      await expectEventually(() => counts.inAll(CONNECTIONS) === 0);
    });
  });

  it('is disconnected when too many bytes wait, the slowest first', async () => {
    await withServer({ maxUnsentMb: 4 * 28 }, async (port, counts, metrics) => {
      const first = await stall(port, counts);
      const later = [await stall(port, counts, 2), await stall(port, counts, 3), await ask(port)];
      await expectEventually(() => endsIn(metrics)['unsent-bytes'] === 1);
      first.socket.resume();
      await first.ended;
      for (const { socket } of later) expect(socket.closed).to.equal(false);
    });
  });

  it('leaves to other networks their part of the bytes that may wait', async () => {
    await withServer({ maxUnsentMb: 64 }, async (port, counts, metrics) => {
      const other = await ask(port, OTHER);
      await expectEventually(() => counts.inAll(UNSENT_KB) > 0);
      for (let i = 0; i < 4; i++) {
        await ask(port, ATTACKER);
        await expectEventually(() => endsIn(metrics)['unsent-bytes'] >= i);
      }
      expect(other.socket.closed).to.equal(false);
    });
  });

  it('leaves to other keys behind a trusted proxy their part of the bytes that may wait', async () => {
    await withServer({ maxUnsentMb: 64, trustProxy: [PROXY] }, async (port, counts, metrics) => {
      const others = [await ask(port, PROXY, 'a'), await ask(port, PROXY, 'b')];
      await expectEventually(() => counts.inAll(UNSENT_KB) * 1024 > 1.5 * BODY.length);
      for (let i = 0; i < 4; i++) {
        await ask(port, PROXY, 'c');
        await expectEventually(() => endsIn(metrics)['unsent-bytes'] >= i - 1);
      }
      expect(counts.inAll(UNSENT_KB) * 1024).to.be.above(0.25 * 64 * 2 ** 20);
      for (const { socket } of others) expect(socket.closed).to.equal(false);
    });
  });
});

const clients: RawClient[] = [];
afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.destroy();
});

async function connectTo(port: number, from = '127.0.0.1'): Promise<RawClient> {
  const client = new RawClient(port, from);
  clients.push(client);
  await once(client.socket, 'connect');
  return client;
}

/** Waits until a condition holds. */
async function expectEventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}
