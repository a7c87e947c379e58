import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { RawClient } from '../support/raw-client.ts';
import { readableLog } from '../support/readable-log.ts';
import { close, listen, servesForEach } from '../support/serve.ts';
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

  describe('with a client that disconnects', () => {
    const server = serverWith((app) => {
      app.use((_request, response) => {
        response.writeHead(200).end(Buffer.alloc(64 * 1024 * 1024));
      });
    }, serverDependencies());
    let port: number;
    before(async () => {
      port = await listen(server);
    });
    after(() => close(server));

    it('survives a reset that follows a CONNECT', async () => {
      for (let i = 0; i < 20; i++) {
        const connected = once(server, 'connection') as Promise<[Socket]>;
        const client = new RawClient(port).socket;
        const [socket] = await connected;
        client.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
        setImmediate(() => client.resetAndDestroy());
        if (!socket.closed) await new Promise((resolve) => socket.on('close', resolve));
      }
    });

    it('closes the connection after CONNECT, though the client keeps it open', async () => {
      const connected = once(server, 'connection') as Promise<[Socket]>;
      const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
      const [socket] = await connected;
      client.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
      client.resume();
      await once(socket, 'close');
      client.destroy();
    });

    it('closes the connection of a client that does not read', async () => {
      expect(server.timeout).to.equal(30_000);
      server.setTimeout(50);
      const connected = once(server, 'connection') as Promise<[Socket]>;
      const client = new RawClient(port).socket;
      client.pause();
      client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      const [socket] = await connected;
      await once(socket, 'close');
      client.destroy();
    });
  });
});
