import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { pino } from 'pino';
import { newHitCounts, rateLimitPerKey } from '../../../src/http/checks/rate-limit.ts';
import { RequestContext } from '../../../src/http/request-context.ts';
import { Problem } from '../../../src/http/response/problem.ts';

const DAY_MS = 86_400_000;

describe('the rate limit', () => {
  const realNow = Date.now;
  let server: Server;
  let origin: string;

  async function start(clock?: () => number): Promise<void> {
    const app = express();
    app.use((_request, response, next) => {
      response.locals.context = new RequestContext('id', 0);
      response.locals.context.caller = { organizationId: 'org_1', keyId: 'key_1' };
      next();
    });
    const hits = { counts: newHitCounts(), slotOf: () => 0 };
    app.use(rateLimitPerKey(2, hits, pino({ level: 'silent' }), clock));
    app.use((_request, response) => {
      const { rateLimit } = response.locals.context;
      response.send(rateLimit?.headers[3]);
    });
    app.use(((error, _request, response, next) => {
      if (error instanceof Problem) response.status(error.status).send(error.headers.join(' '));
      else next(error);
    }) satisfies express.ErrorRequestHandler);
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  afterEach(() => {
    Date.now = realNow;
    server.closeAllConnections();
    server.close();
  });

  async function ask(): Promise<string> {
    const response = await fetch(origin);
    return `${response.status} ${await response.text()}`;
  }

  it('tells seconds after which the window is over, and never fewer', async () => {
    let now = 0;
    await start(() => now);
    const policy = '"2-in-1min"';
    expect(await ask()).to.equal(`200 ${policy}; r=1; t=60`);
    now = 58_999.5;
    expect(await ask()).to.equal(`200 ${policy}; r=0; t=2`);
    now = 59_999.9;
    expect(await ask()).to.equal('429 Retry-After 1');
    now = 60_000;
    expect(await ask()).to.equal(`200 ${policy}; r=1; t=60`);
  });

  it('lasts as long when the wall clock is set', async () => {
    await start();
    await ask();
    await ask();
    for (const moved of [-DAY_MS, DAY_MS]) {
      Date.now = () => realNow() + moved;
      expect(await ask()).to.match(/^429 Retry-After (60|5\d)$/);
    }
  });
});
