import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { readableLog } from '../support/readable-log.ts';
import { servesForEach } from '../support/serve.ts';
import { serverDependencies, serverWith } from '../support/test-api.ts';

describe('The server', () => {
  const serve = servesForEach();

  it('closes the connection of a response that fails after its start, and logs the error once', async () => {
    const print = mock.method(console, 'error');
    const { log, lines } = readableLog();
    const server = serverWith((app) => {
      app.use((_request, response) => {
        response.writeHead(200, ['Content-Length', '5']).write('so');
        throw new Error('half of it');
      });
    }, serverDependencies(log));
    const failure = await fetch(`http://127.0.0.1:${await serve(server)}/`).then(
      (response) => response.text().catch((error: unknown) => error),
      (error: unknown) => error,
    );
    print.mock.restore();
    expect(print.mock.callCount()).to.equal(0);
    expect(failure).to.be.instanceOf(TypeError);
    const [error, request] = lines;
    expect(error).to.have.nested.property('err.message', 'half of it');
    expect(request).to.include({ msg: 'request', sent: false });
  });

  it('closes the connection after CONNECT, though the client keeps it open, and survives a reset', async () => {
    const server = serverWith(() => undefined, serverDependencies());
    const port = await serve(server);
    for (let i = 0; i <= 20; i++) {
      const connected = once(server, 'connection') as Promise<[Socket]>;
      const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
      const [socket] = await connected;
      client.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
      client.resume();
      if (i > 0) setImmediate(() => client.resetAndDestroy());
      if (!socket.closed) await new Promise((resolve) => socket.on('close', resolve));
      client.destroy();
    }
  });

  it('closes the connection after CONNECT, though the client does not read the response before it', async () => {
    const server = serverWith((app) => {
      app.get('/', (_request, response) => void response.end(Buffer.alloc(2 ** 26)));
    }, serverDependencies());
    const connected = once(server, 'connection') as Promise<[Socket]>;
    const client = connect({ port: await serve(server), host: '127.0.0.1' }).on('error', () => undefined);
    const [socket] = await connected;
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\nCONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
    if (!socket.closed) await new Promise((resolve) => socket.on('close', resolve));
    client.destroy();
  });
});
