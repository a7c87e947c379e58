import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { lookForIdleConnections } from '../../src/http/idle-connections.ts';

const HEAD = 'GET / HTTP/1.1\r\nHost: a\r\n';
const GET = `${HEAD}\r\n`;
const IDLE_MS = 60;
/** Where something has to happen in time, on a machine that may be busy. */
const LONG_IDLE_MS = 500;
const LOOK_MS = 10;

describe('Idle connections', () => {
  let server: Server;
  let client: Socket;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;

  beforeEach(async () => {
    answer = (_request, response) => response.end('all of it');
    server = createServer((request, response) => {
      answer(request, response);
    });
    Object.assign(server, { keepAliveTimeout: IDLE_MS, keepAliveTimeoutBuffer: 0 });
    lookForIdleConnections(server, LOOK_MS);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  });

  afterEach(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });

  const ask = async (text = GET): Promise<string> => {
    client.write(text);
    const [answered] = (await once(client, 'data')) as [Buffer];
    return String(answered);
  };

  it('are ended, not before their time', async () => {
    let since = Infinity;
    answer = (_request, response) => {
      response.on('finish', () => (since = performance.now())).end('all of it');
    };
    const answered = await ask();
    expect(answered)
      .to.match(/^Connection: keep-alive\r\nKeep-Alive: timeout=0\r\n/m)
      .and.to.match(/all of it$/);
    await once(client, 'close');
    expect(performance.now() - since).to.be.at.least(IDLE_MS);
  });

  it('are not those that are asked for something now and then', async () => {
    server.keepAliveTimeout = LONG_IDLE_MS;
    for (let i = 0; i < 10; i++) {
      await ask();
      await delay(LONG_IDLE_MS / 5);
    }
    await ask();
  });

  it('are not those whose answer takes longer', async () => {
    await ask();
    answer = (_request, response) => void delay(5 * IDLE_MS).then(() => response.end('late'));
    expect(await ask()).to.match(/late$/);
    await once(client, 'close');
  });

  it('are not those on which a request comes in slowly', async () => {
    server.keepAliveTimeout = LONG_IDLE_MS;
    await ask();
    for (const piece of HEAD.match(/.{1,4}/gs) ?? []) {
      client.write(piece);
      await delay(LONG_IDLE_MS / 5);
    }
    expect(await ask('\r\n')).to.match(/all of it$/);
    await once(client, 'close');
  });

  it('are told to who listens, once, as a timeout is', async () => {
    const timedOut = once(server, 'timeout') as Promise<[Socket]>;
    await ask();
    const [socket] = await timedOut;
    let more = 0;
    server.on('timeout', () => more++);
    await delay(3 * IDLE_MS);
    expect(more).to.equal(0);
    expect(socket.destroyed).to.equal(false);
  });
});
