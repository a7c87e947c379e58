import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect } from 'chai';
import express from 'express';
import type { NextFunction, Request, Response } from 'express';
import { pino } from 'pino';
import { RELEASES } from '../../src/contract/releases.ts';
import { createServer } from '../../src/http/server.ts';
import { Tally } from '../../src/http/tally.ts';

describe('The server', () => {
  it('logs an error that nothing else answers, and ends the connection', async () => {
    const logged: string[] = [];
    const app = express();
    app.use(() => {
      throw new Error('first');
    });
    // One of four parameters: it is asked about errors.
    app.use((error: unknown, request: Request, response: Response, next: NextFunction) => {
      throw new Error(`in the answer to ${String([error, request, response, next].length)}`);
    });
    const log = pino({}, { write: (line: string) => logged.push(line) });
    const server = createServer(app, { clock: Date.now, releases: RELEASES, log, tally: new Tally() });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const failure = await fetch(`http://127.0.0.1:${port}/`).catch((error: unknown) => error);
    server.close();
    expect(failure).to.be.instanceOf(TypeError);
    expect(logged.map((line) => JSON.parse(line) as object)).to.have.nested.property(
      '[0].err.message',
      'in the answer to 4',
    );
  });
});
