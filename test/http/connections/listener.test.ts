import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { expect } from 'chai';
import type { Request, Response } from 'express';
import { Connections } from '../../../src/http/connections/connections.ts';
import { Listener } from '../../../src/http/connections/listener.ts';
import { eventually } from '../../support/eventually.ts';
import { RawClient } from '../../support/raw-client.ts';
import { serverDependencies } from '../../support/test-api.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
/** Longer than any of these tests: a drain that ends in time does not end because of the grace. */
const GRACE_SECONDS = 15;

describe('The drain of a server', () => {
  let server: Server;
  let listener: Listener;
  let noticed: PromiseWithResolvers<undefined>;
  let port: number;
  let clients: RawClient[];
  let respond: (request: IncomingMessage, response: ServerResponse) => void;

  beforeEach(async () => {
    clients = [];
    noticed = Promise.withResolvers();
    respond = (_request, response) => response.end('all of it');
    server = createServer();
    const connections = new Connections(server, serverDependencies(), {
      handle: (_connection, incoming, response) => {
        respond(incoming, response);
      },
      closed: () => undefined,
    });
    server.on('request', (incoming: Request, response: Response) => {
      connections.open.get(incoming.socket)?.answer(incoming, response);
    });
    listener = new Listener(server, connections);
    port = await listener.listen({ port: 0, host: '127.0.0.1', reusePort: process.platform === 'linux' });
  });

  afterEach(async () => {
    for (const { socket } of clients) socket.destroy();
    noticed.resolve(undefined);
    await listener.drain(noticed.promise, 0);
  });

  const drain = (graceSeconds = GRACE_SECONDS) => listener.drain(noticed.promise, graceSeconds);

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

  it('ends at once without connections, and refuses further ones', async () => {
    noticed.resolve(undefined);
    await drain();
    const late = new RawClient(port);
    await late.ended;
    expect(late.error).to.equal('ECONNREFUSED');
  });

  it('responds to the requests of a pipeline, and closes the connection with the last', async () => {
    const { client, held } = await pending(GET + GET);
    const drained = drain();
    noticed.resolve(undefined);
    held[0]?.end('answer');
    await eventually(() => held.length === 2);
    held[1]?.end('answer');
    await Promise.all([drained, client.ended]);
    expect(client.received).to.match(/Connection: keep-alive[^]*answer[^]*Connection: close[^]*answer$/);
    expect(client.error).to.equal(undefined);
  });

  it('until proxies have noticed, answers a request on each connection, and accepts further ones', async () => {
    const known = await idle();
    const drained = drain();
    for (const client of [known, await connected(), await connected()]) {
      client.socket.write(GET);
      await client.ended;
      expect(client.received).to.match(/Connection: close[^]*all of it$/);
      expect(client.error).to.equal(undefined);
    }
    noticed.resolve(undefined);
    await drained;
  });

  it('then closes idle and silent connections, but not that of a request', async () => {
    const [known, silent] = [await idle(), await connected()];
    const { client: busy, held } = await pending();
    const drained = drain();
    noticed.resolve(undefined);
    await Promise.all([known.ended, silent.ended]);
    expect([known.error, silent.error]).to.deep.equal([undefined, undefined]);
    held[0]?.end('answer');
    await Promise.all([drained, busy.ended]);
    expect(busy.received).to.match(/Connection: close[^]*answer$/);
  });

  it('closes the connection of a response that had begun before, when it is complete', async () => {
    const { client, held } = await pending();
    held[0]?.writeHead(200, { 'Content-Length': '6' });
    held[0]?.flushHeaders();
    await client.receives(() => client.received.includes('\r\n\r\n'));
    const drained = drain();
    noticed.resolve(undefined);
    held[0]?.end('answer');
    await Promise.all([drained, client.ended]);
    expect(client.received).to.match(/Connection: keep-alive[^]*answer$/);
    expect(client.error).to.equal(undefined);
  });

  it('ends the remaining ones when the grace is over', async () => {
    const half = await connected();
    half.socket.write('GET / HTTP/1.1\r\nHo');
    const { client: stuck } = await pending();
    noticed.resolve(undefined);
    await Promise.all([drain(0.1), half.ended, stuck.ended]);
  });
});
