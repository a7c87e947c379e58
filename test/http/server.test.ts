import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { pino } from 'pino';
import { RELEASES } from '../../src/contract/releases.ts';
import { fail } from '../../src/http/response/fail.ts';
import { createServer } from '../../src/http/server.ts';
import { Tally } from '../../src/http/tally.ts';

describe('The server', () => {
  it('ends the connection of a response that fails after it has begun, and logs the error', async () => {
    const logged: string[] = [];
    const destination = { write: (line: string) => logged.push(line) };
    const log = pino({}, destination);
    const app = express();
    // Elsewhere Express prints the error as well.
    app.set('env', 'test');
    app.use((_request, response) => {
      response.writeHead(200, ['Content-Length', '5']).write('so');
      throw new Error('half of it');
    });
    app.use(fail(log));
    const server = createServer(app, {
      clock: Date.now,
      releases: RELEASES,
      log,
      tally: new Tally(),
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const failure = await fetch(`http://127.0.0.1:${port}/`).then(
      (response) => response.text().catch((error: unknown) => error),
      (error: unknown) => error,
    );
    server.close();
    expect(failure).to.be.instanceOf(TypeError);
    const [error, request] = logged.map((line) => JSON.parse(line) as object);
    expect(error).to.have.nested.property('err.message', 'half of it');
    expect(request).to.include({ msg: 'request', sent: false });
  });
});
