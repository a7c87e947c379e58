import { once } from 'node:events';
import { expect } from 'chai';
import type { Express } from 'express';
import { CONNECTIONS, type OpenCounts, UNSENT_KB } from '../../../src/counts/open-counts.ts';
import { RequestMetrics, sumMetrics } from '../../../src/counts/request-metrics.ts';
import type { Dependencies } from '../../../src/http/app.ts';
import { eventually } from '../../support/eventually.ts';
import { RawClient } from '../../support/raw-client.ts';
import { servesForEach } from '../../support/serve.ts';
import { serverDependencies, serverWith, TestApi } from '../../support/test-api.ts';

const MAX_PIPELINED = 32;

const endsIn = (metrics: RequestMetrics) => Object.fromEntries(sumMetrics([metrics]).ends);

describe('Pipelined requests', () => {
  it('are answered up to a limit at a time, and the last response beyond it closes the connection', async () => {
    const metrics = new RequestMetrics();
    await using api = await TestApi.start({ metrics });
    const client = await connectTo(api.port);
    const request = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
    const connectionHeaders = () => client.received.match(/^Connection: .*$/gm) ?? [];
    for (let i = 1; i <= 10; i++) {
      client.socket.write(request.repeat(MAX_PIPELINED - 1));
      await client.receives(() => connectionHeaders().length === i * (MAX_PIPELINED - 1));
    }
    client.received = '';
    client.socket.write(request.repeat(1000));
    await client.ended;
    expect(connectionHeaders()).to.deep.equal([
      ...Array<string>(MAX_PIPELINED - 1).fill('Connection: keep-alive'),
      'Connection: close',
    ]);
    expect(endsIn(metrics)['pipelining']).to.equal(1);
  });
});

describe('The limit of connections', () => {
  /** Opens connections one after the other. Returns those that the server accepts. */
  async function open(api: TestApi, count: number, key?: string): Promise<RawClient[]> {
    const clients: RawClient[] = [];
    for (let i = 0; i < count; i++) {
      const client = await connectTo(api.port);
      const head = key === undefined ? '' : `Authorization: ${key}\r\n`;
      client.socket.write(`GET /v1/events HTTP/1.1\r\nHost: x\r\n${head}\r\n`);
      await client.receives(() => client.received !== '');
      if (client.received !== '') clients.push(client);
    }
    return clients;
  }

  it('prefers connections that had a valid key', async () => {
    const metrics = new RequestMetrics();
    const { counts } = serverDependencies();
    counts.limit = 6;
    await using api = await TestApi.start({ counts, metrics });
    const key = api.authorization('north');
    const authenticated = await open(api, 4, key);
    const silent = await open(api, 2);
    expect(await open(api, 1, key)).to.have.length(1);
    await silent[0]?.ended;
    expect(await open(api, 1, key)).to.have.length(1);
    await silent[1]?.ended;
    expect(endsIn(metrics)).to.include({ limit: 2 });
    expect(await open(api, 2)).to.have.length(0);
    expect(endsIn(metrics)).to.include({ limit: 4 });
    for (const { socket } of authenticated) expect(socket.closed).to.equal(false);
    await api.stop();
    await eventually(() => counts.inAll(CONNECTIONS) === 0);
  });
});

describe('A client that does not read', () => {
  const BODY = Buffer.alloc(8 * 1024 * 1024);
  /** The path at which the server shuts its connection down without a response, and then ends it. */
  const SHUT_DOWN = '/shut-down';
  const serve = servesForEach();
  let counts: OpenCounts;
  let metrics: RequestMetrics;
  let port: number;

  async function start(config: Partial<Dependencies['config']> = {}): Promise<void> {
    const defaults = serverDependencies();
    ({ counts, metrics } = defaults);
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
    port = await serve(serverWith(addRoutes, { ...defaults, config: { ...defaults.config, ...config } }));
  }

  afterEach(() => eventually(() => counts.inAll(UNSENT_KB) === 0));

  /** Sends requests without reading the responses. */
  async function ask(key = ''): Promise<RawClient> {
    const client = await connectTo(port);
    client.socket.pause();
    client.socket.write(`GET / HTTP/1.1\r\nHost: x\r\nAuthorization: ${key}\r\n\r\n`.repeat(8));
    return client;
  }

  /** Waits, as one of several such clients, until the first of its responses waits to be sent. */
  async function stall(connections = 1): Promise<RawClient> {
    const client = await ask();
    await eventually(() => counts.inAll(UNSENT_KB) >= (connections * BODY.length) / 1024);
    return client;
  }

  it('is disconnected after the time without progress, though it sends more bytes', async () => {
    // Longer than the time after which the server no longer reads the connection.
    await start({ writeTimeoutSeconds: 1.5 });
    const { socket } = await connectTo(port);
    socket.pause();
    // Before a second complete request, Node itself would not read on.
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nX: ');
    await eventually(() => counts.inAll(UNSENT_KB) > 0);
    const drip = setInterval(() => socket.write('x'), 100);
    await eventually(() => counts.inAll(UNSENT_KB) === 0);
    clearInterval(drip);
    expect(endsIn(metrics)['no-progress']).to.equal(1);
  });

  it('is disconnected in the moment in which its connection is shut down', async () => {
    await start();
    const { socket } = await connectTo(port);
    socket.write(`GET ${SHUT_DOWN} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await once(socket, 'close');
    await eventually(() => counts.inAll(CONNECTIONS) === 0);
  });

  it('is disconnected when too many bytes wait, the slowest first', async () => {
    await start({ maxUnsentMb: 4 * 28 });
    const first = await stall();
    const later = [await stall(2), await stall(3), await ask()];
    await eventually(() => endsIn(metrics)['unsent-bytes'] === 1);
    first.socket.resume();
    await first.ended;
    for (const { socket } of later) expect(socket.closed).to.equal(false);
  });

  it('leaves to other keys their part of the bytes that may wait', async () => {
    await start({ maxUnsentMb: 64 });
    const others = [await ask('a'), await ask('b')];
    await eventually(() => counts.inAll(UNSENT_KB) * 1024 > 1.5 * BODY.length);
    for (let i = 0; i < 4; i++) {
      await ask('c');
      await eventually(() => endsIn(metrics)['unsent-bytes'] >= i - 1);
    }
    expect(counts.inAll(UNSENT_KB) * 1024).to.be.above(0.25 * 64 * 2 ** 20);
    for (const { socket } of others) expect(socket.closed).to.equal(false);
  });
});

const clients: RawClient[] = [];
afterEach(() => {
  for (const { socket } of clients.splice(0)) socket.destroy();
});

async function connectTo(port: number): Promise<RawClient> {
  const client = new RawClient(port);
  clients.push(client);
  await once(client.socket, 'connect');
  return client;
}
