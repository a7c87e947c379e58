import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Request, Response } from 'express';
import { pino } from 'pino';
import { Connections } from '../../../src/http/connections/connections.ts';
import {
  beginGrace,
  type DrainTimes,
  Listener,
  newDrainTimes,
  prepareDrain,
} from '../../../src/http/connections/drain.ts';
import { byDepth } from '../../support/depth.ts';
import { serverDependencies } from '../../support/test-api.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
/** Longer than any of these tests: a drain that ends in time does not end because of the grace. */
const GRACE_SECONDS = 15;
/** The time without a new connection after which none is expected. */
const QUIET_MS = 200;
/** An immediate end, on a busy machine. */
const AT_ONCE_MS = 5000;
const STOPS_UNDER_LOAD = byDepth({ short: 2, deep: 60 });

/** A connection that records the received bytes and its end. */
class Client {
  received = '';
  error: string | undefined;
  readonly ended: Promise<void>;
  readonly socket: Socket;

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.setEncoding('latin1').on('data', (text: string) => (this.received += text));
    this.socket.on('error', ({ code }: NodeJS.ErrnoException) => (this.error = code));
    this.ended = new Promise((resolve) => {
      this.socket.on('close', () => {
        resolve();
      });
    });
  }

  async has(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.received)) {
      if (this.socket.closed)
        throw new Error(`the connection ended without ${String(pattern)}: ${this.received}`);
      await delay(1);
    }
  }
}

describe('The drain of a server', () => {
  let server: Server;
  let listener: Listener;
  let drain: ReturnType<typeof prepareDrain>;
  let times: DrainTimes;
  let port: number;
  let clients: Client[];
  let respond: (request: IncomingMessage, response: ServerResponse) => void;
  let serverOptions: ServerOptions = {};
  let quietMs = QUIET_MS;

  beforeEach(async () => {
    clients = [];
    respond = (_request, response) => response.end('all of it');
    await start();
  });

  afterEach(() => {
    for (const { socket } of clients) socket.destroy();
    server.closeAllConnections();
    server.close();
  });

  async function start(): Promise<void> {
    server = createServer(serverOptions);
    const { config, networks, counts, metrics } = serverDependencies(pino({ level: 'silent' }));
    const connections = new Connections(server, config, networks, counts, metrics, {
      handle: (_connection, incoming, response) => {
        respond(incoming, response);
      },
      closed: () => undefined,
    });
    server.on('request', (incoming: Request, response: Response) => {
      connections.open.get(incoming.socket)?.answer(incoming, response);
    });
    times = newDrainTimes();
    listener = new Listener(server);
    drain = prepareDrain(server, listener, times, connections, quietMs);
    port = await listener.listen({ port: 0, host: '127.0.0.1', reusePort: process.platform === 'linux' });
  }

  function drainFor(graceSeconds: number, isUrgent = false): Promise<void> {
    beginGrace(times);
    return drain(graceSeconds, isUrgent);
  }

  async function connected(): Promise<Client> {
    const accepted = once(server, 'connection');
    const client = new Client(port);
    clients.push(client);
    await accepted;
    return client;
  }

  /** Returns a connection that is idle after one response. */
  async function idle(): Promise<Client> {
    const client = await connected();
    client.socket.write(GET);
    await client.has(/all of it$/);
    expect(client.received).to.include('Connection: keep-alive');
    client.received = '';
    return client;
  }

  /** Leaves requests pending. Returns their responses. */
  function hold(): ServerResponse[] {
    const held: ServerResponse[] = [];
    respond = (_request, response) => held.push(response);
    return held;
  }

  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await delay(1);
  }

  const isClosed = () => !listener.isListening;

  it('ends at once without connections', async () => {
    const start = performance.now();
    await drainFor(GRACE_SECONDS);
    expect(performance.now() - start).to.be.within(QUIET_MS - 20, AT_ONCE_MS);
    expect(listener.isListening).to.equal(false);
  });

  it('completes pending requests, each with Connection: close', async () => {
    const held = hold();
    const client = await connected();
    client.socket.write(GET);
    await until(() => held.length === 1);
    const drained = drainFor(GRACE_SECONDS);
    await until(isClosed);
    held[0]?.end('late');
    await Promise.all([drained, client.ended]);
    expect(client.received).to.match(/Connection: close[^]*late$/);
    expect(client.error).to.equal(undefined);
  });

  it('responds to all pipelined requests, and closes the connection with the last', async () => {
    const held = hold();
    const client = await connected();
    client.socket.write(GET + GET);
    await until(() => held.length === 1);
    const drained = drainFor(GRACE_SECONDS);
    held[0]?.end('answer');
    await until(() => held.length === 2);
    held[1]?.end('answer');
    await Promise.all([drained, client.ended]);
    expect(client.received).to.match(/Connection: keep-alive[^]*answer[^]*Connection: close[^]*answer$/);
  });

  it('closes connections after their response from the start of the grace', async () => {
    const held = hold();
    const client = await connected();
    client.socket.write(GET);
    await until(() => held.length === 1);
    beginGrace(times);
    const arrived = once(server, 'request');
    client.socket.write(GET);
    await arrived;
    const drained = drain(GRACE_SECONDS, false);
    held[0]?.end('answer');
    await until(() => held.length === 2);
    held[1]?.end('answer');
    await Promise.all([drained, client.ended]);
    expect(client.received).to.match(/Connection: keep-alive[^]*answer[^]*Connection: close[^]*answer$/);
  });

  it('keeps idle connections open for one more request', async () => {
    const client = await idle();
    const drained = drainFor(GRACE_SECONDS);
    await until(isClosed);
    client.socket.write(GET);
    await Promise.all([drained, client.ended]);
    expect(client.received).to.match(/Connection: close[^]*all of it$/);
    expect(client.error).to.equal(undefined);
  });

  it('closes idle connections shortly before the end of the grace', async () => {
    const client = await idle();
    const start = performance.now();
    await drainFor(2);
    expect(performance.now() - start).to.be.within(1750, 2000 + AT_ONCE_MS);
    await client.ended;
    expect(client.error).to.equal(undefined);
  });

  it('does not wait for connections without a request', async () => {
    const client = await connected();
    const start = performance.now();
    await drainFor(GRACE_SECONDS);
    expect(performance.now() - start).to.be.below(AT_ONCE_MS);
    await client.ended;
    expect(client.error).to.equal(undefined);
  });

  it('keeps those open while it waits for others', async () => {
    const held = hold();
    const [busy, silent] = [await connected(), await connected()];
    busy.socket.write(GET);
    await until(() => held.length === 1);
    const drained = drainFor(GRACE_SECONDS);
    await until(isClosed);
    // Alone, they would have been closed by now.
    await delay(2 * QUIET_MS);
    silent.socket.write(GET);
    await until(() => held.length === 2);
    for (const response of held) response.end('answer');
    await Promise.all([drained, busy.ended, silent.ended]);
    expect(silent.received).to.match(/Connection: close[^]*answer$/);
  });

  it('ends an incomplete request, and one without a response, at the end of the grace', async () => {
    const held = hold();
    const [half, stuck] = [await connected(), await connected()];
    half.socket.write('GET / HTTP/1.1\r\nHo');
    stuck.socket.write(GET);
    await until(() => held.length === 1);
    const start = performance.now();
    await drainFor(2);
    expect(performance.now() - start).to.be.within(1750, 2000 + AT_ONCE_MS);
    await Promise.all([half.ended, stuck.ended]);
  });

  describe('of a server with short request timeouts', () => {
    before(() => {
      serverOptions = { headersTimeout: 100, connectionsCheckingInterval: 20 };
    });
    after(() => {
      serverOptions = {};
    });

    it('keeps the timeouts in force', async () => {
      const slow = await idle();
      const drained = drainFor(GRACE_SECONDS);
      await until(isClosed);
      slow.socket.write('GET / HTTP/1.1\r\nHo');
      await Promise.all([slow.ended, drained]);
      expect(slow.received).to.match(/^HTTP\/1\.1 408 /);
    });
  });

  it('sends whole responses to a slow reader', async () => {
    const length = 16 * 1024 * 1024;
    respond = (_request, response) => response.end(Buffer.alloc(length, 'x'));
    const client = await connected();
    client.socket.pause();
    client.socket.write(GET);
    const drained = drainFor(GRACE_SECONDS);
    await until(isClosed);
    client.socket.resume();
    await Promise.all([drained, client.ended]);
    const body = client.received.slice(client.received.indexOf('\r\n\r\n') + 4);
    expect(body).to.have.length(length);
    expect(client.error).to.equal(undefined);
  });

  it('stops listening after half of the grace under steady new connections, and resets none', async () => {
    for (let run = 0; run < STOPS_UNDER_LOAD; run++) {
      if (run > 0) await start();
      const clientErrors = Array.from({ length: 4 }, reconnectUntilFailure);
      const begun = performance.now();
      const drained = drainFor(1).then(() => performance.now() - begun);
      expect(await Promise.all(clientErrors), `run ${run}`).to.deep.equal(Array(4).fill('ECONNREFUSED'));
      expect(await drained, `run ${run}`).to.be.within(500, 1000 + AT_ONCE_MS);
    }
  });

  /** Opens a connection for each of many requests. Returns the first error. */
  async function reconnectUntilFailure(): Promise<string> {
    for (;;) {
      const client = new Client(port);
      client.socket.write(GET);
      await client.ended;
      if (client.error !== undefined) return client.error;
      if (!client.received.endsWith('all of it')) return `incomplete response: ${client.received}`;
    }
  }

  describe('with a long quiet time', () => {
    before(() => {
      quietMs = 10 * AT_ONCE_MS;
    });
    after(() => {
      quietMs = QUIET_MS;
    });

    it('ends, when urgent, as soon as the pending requests end', async () => {
      const waiting = await idle();
      const silent = await connected();
      const held = hold();
      const busy = await connected();
      busy.socket.write(GET);
      await until(() => held.length === 1);
      const start = performance.now();
      const drained = drainFor(GRACE_SECONDS, true);
      await waiting.ended;
      held[0]?.end('answer');
      await Promise.all([drained, busy.ended, silent.ended]);
      expect(performance.now() - start).to.be.below(AT_ONCE_MS);
      expect(busy.received).to.match(/Connection: close[^]*answer$/);
    });

    it('closes everything at once without grace', async () => {
      hold();
      const client = await connected();
      client.socket.write(GET);
      await once(server, 'request');
      const start = performance.now();
      await Promise.all([drainFor(0), client.ended]);
      expect(performance.now() - start).to.be.below(AT_ONCE_MS);
    });
  });

  describe('with time for busy clients', () => {
    before(() => {
      quietMs = 2000;
    });
    after(() => {
      quietMs = QUIET_MS;
    });

    it('accepts connections for a while', async () => {
      const drained = drainFor(GRACE_SECONDS);
      for (let i = 0; i < 3; i++) {
        const client = await connected();
        client.socket.write(GET);
        await client.ended;
        expect(client.received).to.match(/Connection: close[^]*all of it$/);
      }
      await drained;
      const late = new Client(port);
      await late.ended;
      expect(late.error).to.equal('ECONNREFUSED');
    });

    it('closes the connections of a client pool with their next requests', async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 4 });
      const send = () =>
        new Promise<string | undefined>((resolve, reject) => {
          request({ port, host: '127.0.0.1', agent }, (response) => {
            response.resume().on('end', () => {
              resolve(response.headers.connection);
            });
          })
            .on('error', reject)
            .end();
        });
      expect(await Promise.all(Array.from({ length: 12 }, send))).to.deep.equal(Array(12).fill('keep-alive'));
      const drained = drainFor(GRACE_SECONDS);
      expect(await Promise.all(Array.from({ length: 12 }, send))).to.deep.equal(Array(12).fill('close'));
      await drained;
      agent.destroy();
    });
  });
});
