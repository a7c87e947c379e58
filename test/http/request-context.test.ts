import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { expect } from 'chai';
import type { Express, RequestHandler } from 'express';
import { pino } from 'pino';
import supertest from 'supertest';
import { sumMetrics, RequestMetrics } from '../../src/counts/request-metrics.ts';
import { NO_STORE, send } from '../../src/http/response/send.ts';
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
  let server: Server;
  let metrics: RequestMetrics;
  let logged: Record<string, unknown>[];

  beforeEach(async () => {
    metrics = new RequestMetrics();
    logged = [];
    const destination = { write: (line: string) => logged.push(JSON.parse(line) as Record<string, unknown>) };
    const log = pino({}, destination);
    const addRoutes = (app: Express) => {
      app.get('/v1/tickets', respond('listTickets'));
    };
    server = serverWith(addRoutes, { ...serverDependencies(log), clock: () => NOW, metrics });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(async () => {
    server.close();
    await once(server, 'close');
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
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.end('nonsense\r\n\r\n');
    expect(await readText(socket)).to.match(/^HTTP\/1.1 400 /);
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
