import type { Server } from 'node:http';
import { expect } from 'chai';
import type { Express, RequestHandler } from 'express';
import supertest from 'supertest';
import { sumMetrics, RequestMetrics } from '../../src/counts/request-metrics.ts';
import { NO_STORE, send } from '../../src/http/response/send.ts';
import { RawClient } from '../support/raw-client.ts';
import { readableLog, type ReadableLog } from '../support/readable-log.ts';
import { servesForEach } from '../support/serve.ts';
import { serverDependencies, serverWith } from '../support/test-api.ts';

const NOW = Date.parse('2026-09-01T12:00:00Z'); // before the first release

const respond =
  (operation: string): RequestHandler =>
  (_request, response) => {
    const { context } = response.locals;
    context.operation = operation;
    context.rows = 2;
    send(response, 200, NO_STORE, ['[1,2]']);
  };
describe('The end of a request', () => {
  const serve = servesForEach();
  let server: Server;
  let port: number;
  let metrics: RequestMetrics;
  let logged: ReadableLog['lines'];

  beforeEach(async () => {
    metrics = new RequestMetrics();
    const { log, lines } = readableLog();
    logged = lines;
    const addRoutes = (app: Express) => {
      app.get('/v1/tickets', respond('listTickets'));
    };
    server = serverWith(addRoutes, { ...serverDependencies(log), clock: () => NOW, metrics });
    port = await serve(server);
  });

  const get = (path: string, version?: string) => {
    const test = supertest(server).get(path);
    return version === undefined ? test : test.set('Service-API-Version', version);
  };

  it('is counted by operation, status and version', async () => {
    await get('/v1/tickets');
    await get('/v1/tickets', 'preview');
    await get('/v1/tickets', '2026-10-01');
    await get('/v1/tickets', '2026-10-01');
    await get('/v1/none', 'nonsense');
    await get('/none');
    const { requests, durations } = sumMetrics([metrics]);
    expect(requests.map((each) => Object.values(each))).to.deep.equal([
      ['listTickets', '200', 'stable', 1],
      ['listTickets', '200', 'preview', 1],
      ['listTickets', '200', 'upcoming', 2],
      ['other', '404', 'stable', 1],
      ['other', '404', 'none', 1],
    ]);
    const totals = durations.find(({ operation }) => operation === 'listTickets')?.totals;
    expect(totals?.counts.reduce((sum, count) => sum + count, 0)).to.equal(4);
    expect(totals?.sum).to.be.within(0.000_001, 4);
  });

  it('is counted for malformed requests, too', async () => {
    const client = new RawClient(port);
    client.socket.end('nonsense\r\n\r\n');
    await client.ended;
    expect(client.received).to.match(/^HTTP\/1.1 400 /);
    expect(sumMetrics([metrics]).requests).to.deep.equal([
      { operation: 'other', status: '400', version: 'none', count: 1 },
    ]);
  });

  it('is logged with the number of records of a list', async () => {
    await get('/v1/tickets');
    await supertest(server).head('/v1/tickets');
    await get('/v1/none');
    expect(logged.map(({ rows, bytes }) => [rows, bytes])).to.deep.equal([
      [2, 5],
      [2, 0],
      [undefined, logged[2]['bytes']],
    ]);
  });
});
