import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import type { Request, Response } from 'express';
import { Connections } from '../../../src/http/connections/connections.ts';
import {
  beginGrace,
  type DrainTimes,
  Listener,
  newDrainTimes,
  prepareDrain,
} from '../../../src/http/connections/drain.ts';
import { eventually } from '../../support/eventually.ts';
import { RawClient } from '../../support/raw-client.ts';
import { close } from '../../support/serve.ts';
import { serverDependencies } from '../../support/test-api.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
/** Longer than any of these tests: a drain that ends in time does not end because of the grace. */
const GRACE_SECONDS = 15;
/** The time without a new connection after which none is expected. */
const QUIET_MS = 200;
/** An immediate end, on a busy machine. */
const AT_ONCE_MS = 5000;
/** A drain that waits for it does not end at once. */
const LONG_QUIET_MS = 10 * AT_ONCE_MS;

describe('The drain of a server', () => {
  let server: Server;
  let listener: Listener;
  let drain: (graceSeconds: number, isUrgent: boolean) => Promise<unknown>;
  let times: DrainTimes;
  let port: number;
  let servers: Server[];
  let clients: RawClient[];
  let respond: (request: IncomingMessage, response: ServerResponse) => void;

  beforeEach(async () => {
    [servers, clients] = [[], []];
    respond = (_request, response) => response.end('all of it');
    await start();
  });

  afterEach(async () => {
    for (const { socket } of clients) socket.destroy();
    await Promise.all(servers.map(close));
  });

  /** Starts the server of the following steps. */
  async function start(quietMs = QUIET_MS, options: ServerOptions = {}): Promise<void> {
    server = createServer(options);
    servers.push(server);
    const connections = new Connections(server, serverDependencies(), {
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
    const steps = prepareDrain(server, listener, times, connections, quietMs);
    drain = (...options) => Array.fromAsync(steps(...options));
    port = await listener.listen({ port: 0, host: '127.0.0.1', reusePort: process.platform === 'linux' });
  }

  function drainFor(graceSeconds: number, isUrgent = false): Promise<unknown> {
    beginGrace(times);
    return drain(graceSeconds, isUrgent);
  }

  /** Returns a drain that has stopped listening. */
  async function listeningEnd(): Promise<{ readonly drained: Promise<unknown> }> {
    const drained = drainFor(GRACE_SECONDS);
    await eventually(() => !listener.isListening);
    return { drained };
  }

  /** Expects a drain to take a time, in milliseconds, and on a busy machine somewhat more. */
  async function expectToTake(
    [least, most]: readonly [number, number],
    work: Promise<unknown>,
  ): Promise<void> {
    const start = performance.now();
    await work;
    expect(performance.now() - start).to.be.within(least, most + AT_ONCE_MS);
  }

  async function connected(): Promise<RawClient> {
    const accepted = once(server, 'connection');
    const client = new RawClient(port);
    clients.push(client);
    await accepted;
    return client;
  }

  /** Returns a connection that is idle after one response. */
  async function idle(): Promise<RawClient> {
    const client = await connected();
    client.socket.write(GET);
    await client.receives(() => client.received.endsWith('all of it'));
    expect(client.received).to.include('Connection: keep-alive');
    client.received = '';
    return client;
  }

  /** Sends requests on a connection, the first of which is pending. Returns the responses that the server holds. */
  async function pending(requests = GET) {
    const held: ServerResponse[] = [];
    respond = (_request, response) => held.push(response);
    const client = await connected();
    client.socket.write(requests);
    await eventually(() => held.length === 1);
    return { client, held };
  }

  it('ends at once without connections', async () => {
    await expectToTake([QUIET_MS - 20, 0], drainFor(GRACE_SECONDS));
    expect(listener.isListening).to.equal(false);
  });

  for (const [title, before, since] of [
    ['before the grace', GET + GET, ''],
    ['before the grace and since', GET, GET],
  ]) {
    it(`responds to the requests of a pipeline ${title}, and closes the connection with the last`, async () => {
      const { client, held } = await pending(before);
      beginGrace(times);
      if (since !== '') {
        const arrived = once(server, 'request');
        client.socket.write(since);
        await arrived;
      }
      const drained = drain(GRACE_SECONDS, false);
      held[0]?.end('answer');
      await eventually(() => held.length === 2);
      held[1]?.end('answer');
      await Promise.all([drained, client.ended]);
      expect(client.received).to.match(/Connection: keep-alive[^]*answer[^]*Connection: close[^]*answer$/);
      expect(client.error).to.equal(undefined);
    });
  }

  it('keeps idle connections open for one more request', async () => {
    const client = await idle();
    const { drained } = await listeningEnd();
    client.socket.write(GET);
    await Promise.all([drained, client.ended]);
    expect(client.received).to.match(/Connection: close[^]*all of it$/);
    expect(client.error).to.equal(undefined);
  });

  it('does not wait for connections without a request', async () => {
    const client = await connected();
    await expectToTake([0, 0], drainFor(GRACE_SECONDS));
    await client.ended;
    expect(client.error).to.equal(undefined);
  });

  it('keeps those open while it waits for others', async () => {
    const silent = await connected();
    const { client: busy, held } = await pending();
    const { drained } = await listeningEnd();
    // Alone, the silent connection would have been closed by now.
    await delay(2 * QUIET_MS);
    silent.socket.write(GET);
    await eventually(() => held.length === 2);
    for (const response of held) response.end('answer');
    await Promise.all([drained, busy.ended, silent.ended]);
    expect(silent.received).to.match(/Connection: close[^]*answer$/);
  });

  it('closes idle connections and ends requests without a response shortly before the end of the grace', async () => {
    const [waiting, half] = [await idle(), await connected()];
    half.socket.write('GET / HTTP/1.1\r\nHo');
    const { client: stuck } = await pending();
    await expectToTake([1750, 2000], drainFor(2));
    await Promise.all([waiting.ended, half.ended, stuck.ended]);
    expect(waiting.error).to.equal(undefined);
  });

  it('keeps the timeouts of requests in force', async () => {
    await start(QUIET_MS, { headersTimeout: 100, connectionsCheckingInterval: 20 });
    const slow = await idle();
    const { drained } = await listeningEnd();
    slow.socket.write('GET / HTTP/1.1\r\nHo');
    await Promise.all([slow.ended, drained]);
    expect(slow.received).to.match(/^HTTP\/1\.1 408 /);
  });

  it('ends, when urgent, as soon as the pending requests end', async () => {
    await start(LONG_QUIET_MS);
    const [waiting, silent] = [await idle(), await connected()];
    const { client: busy, held } = await pending();
    const drained = drainFor(GRACE_SECONDS, true);
    void waiting.ended.then(() => held[0]?.end('answer'));
    await expectToTake([0, 0], Promise.all([drained, busy.ended, silent.ended]));
    expect(busy.received).to.match(/Connection: close[^]*answer$/);
  });

  it('closes everything at once without grace', async () => {
    await start(LONG_QUIET_MS);
    const { client } = await pending();
    await expectToTake([0, 0], Promise.all([drainFor(0), client.ended]));
  });

  it('accepts connections until none has come for a while', async () => {
    await start(2000);
    const drained = drainFor(GRACE_SECONDS);
    for (let i = 0; i < 3; i++) {
      const client = await connected();
      client.socket.write(GET);
      await client.ended;
      expect(client.received).to.match(/Connection: close[^]*all of it$/);
    }
    await drained;
    const late = new RawClient(port);
    await late.ended;
    expect(late.error).to.equal('ECONNREFUSED');
  });
});
