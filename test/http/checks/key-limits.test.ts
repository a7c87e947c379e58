import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { pino } from 'pino';
import { RateLimit } from '../../../src/http/checks/key-limits.ts';
import { newHitCounts } from '../../../src/counts/hit-counts.ts';
import { Problem } from '../../../src/http/response/problem.ts';
import { contextOf } from '../../support/test-api.ts';

const DAY_MS = 86_400_000;

describe('The rate limit', () => {
  const realNow = Date.now;
  let server: Server;
  let origin: string;

  async function start(clock?: () => number): Promise<void> {
    const app = express();
    app.use((request, response, next) => {
      response.locals.context = contextOf(request);
      response.locals.context.caller = { organizationId: 'org_1', keyId: 'key_1', slot: 0 };
      next();
    });
    const limit = new RateLimit(2, newHitCounts(4), pino({ level: 'silent' }), clock);
    app.use((request, response, next) => {
      const { context } = response.locals;
      context.rateLimit = limit.count(0);
      if (context.rateLimit?.isExceeded === true) void limit.refuse(request, response, next);
      else next();
    });
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

  async function send(): Promise<string> {
    const response = await fetch(origin);
    return `${response.status} ${await response.text()}`;
  }

  it('rounds the seconds until the end of the window up', async () => {
    let now = 0;
    await start(() => now);
    const policy = '"2-in-1min"';
    expect(await send()).to.equal(`200 ${policy}; r=1; t=60`);
    now = 58_999.5;
    expect(await send()).to.equal(`200 ${policy}; r=0; t=2`);
    now = 59_999.9;
    expect(await send()).to.equal('429 Retry-After 1');
    now = 60_000;
    expect(await send()).to.equal(`200 ${policy}; r=1; t=60`);
  });

  it('does not depend on the wall clock', async () => {
    await start();
    await send();
    await send();
    for (const moved of [-DAY_MS, DAY_MS]) {
      Date.now = () => realNow() + moved;
      expect(await send()).to.match(/^429 Retry-After (60|5\d)$/);
    }
  });
});
