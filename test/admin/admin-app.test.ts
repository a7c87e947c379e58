import { expect } from 'chai';
import supertest from 'supertest';
import { createAdminApp } from '../../src/admin/admin-app.ts';
import { SECURITY_HEADERS } from '../../src/http/response/send.ts';
import { emptyOperations, operationsForEach } from '../support/admin-operations.ts';
import { PRODUCED_AT } from '../support/api-fixture.ts';

const PATHS = ['/livez', '/readyz', '/metrics', '/status', '/summary', '/organizations', '/keys', '/history'];

describe('The admin app', () => {
  const operations = operationsForEach();

  /** Sends a request. Returns the response with its body as text and, if it is JSON, parsed. */
  async function send(path: string, method: 'get' | 'head' | 'post' | 'options' = 'get') {
    const { status, headers, text } = await supertest(createAdminApp(operations))[method](path);
    const typedHeaders: Readonly<Record<string, string>> = headers;
    const body: unknown =
      headers['content-type'] === 'application/json' && method !== 'head' ? JSON.parse(text) : undefined;
    return { status, headers: typedHeaders, text, body };
  }

  it('reports at /livez that the process runs, in any state', async () => {
    Object.assign(operations, emptyOperations());
    operations.workers.isStopping = () => true;
    const { status, body } = await send('/livez');
    expect(status).to.equal(200);
    expect(body).to.deep.equal({ status: 'ok' });
  });

  it('reports at /readyz whether the replica is ready, with the reasons if not', async () => {
    const ready = await send('/readyz?verbose');
    expect(ready.status).to.equal(200);
    expect(ready.body).to.deep.equal({ status: 'ready', reasons: [] });
    operations.workers.isStopping = () => true;
    const stopping = await send('/readyz');
    expect(stopping.status).to.equal(503);
    expect(stopping.body).to.have.property('status', 'not ready');
    expect(stopping.body).to.have.property('reasons').with.length(1);
  });

  it('reports at /readyz whether the data was produced after a time', async () => {
    for (const [time, status] of [
      [PRODUCED_AT, 503],
      ['2000-01-01T00:00Z', 200],
      ['2000-01-01T00:00%2B02:00', 200],
    ] as const)
      expect(await send(`/readyz?produced-after=${time}`), time).to.include({ status });
  });

  it('refuses a time at /readyz that is malformed or given twice, also before it is ready', async () => {
    Object.assign(operations, emptyOperations());
    const time = 'produced-after=2000-01-01T00:00Z';
    for (const query of [
      'produced-after',
      'produced-after=',
      'produced-after=yesterday',
      'produced-after=2026-02-30T00:00Z',
      'produced-after=2000-01-01T00:00',
      'produced-after=2000-01-01T00:00+02:00', // the + is a blank
      'produced-after=%FF',
      `${time}&${time}`,
    ]) {
      const { status, body } = await send(`/readyz?${query}`);
      expect(status, query).to.equal(400);
      expect(body)
        .to.have.property('detail')
        .that.matches(/^produced-after must be .* once, .*ISO 8601.*%2B/);
    }
  });

  it('serves the metrics in the Prometheus text format', async () => {
    const { status, headers, text } = await send('/metrics');
    expect(status).to.equal(200);
    expect(headers['content-type']).to.equal('text/plain; version=0.0.4; charset=utf-8');
    expect(text).to.include('\nfoyer_ready 1\n').and.to.include('\nprocess_resident_memory_bytes ');
  });

  it('serves the status, its lists in pages, and the history of requests, as JSON', async () => {
    const { headers, body: wholeStatus } = await send('/status');
    expect(headers['content-type']).to.equal('application/json');
    expect(wholeStatus).to.have.nested.property('snapshots[0].file', 'main.sqlite');
    const { status, body } = await send('/organizations?search=north');
    expect(status).to.equal(200);
    expect(body).to.have.nested.property('items[0].organizationId', 'north');
    expect((await send('/keys?page=2')).body).to.deep.equal({ items: [], page: 2, totalPages: 1, total: 5 });
    expect((await send('/keys?page=0')).status).to.equal(400);
    expect((await send('/history')).body).to.deep.equal({ intervals: [] });
  });

  it('refuses a Host that is a name, so that no domain can point to it', async () => {
    const statusFor = async (host: string) =>
      (await supertest(createAdminApp(operations)).get('/livez').set('Host', host)).status;
    for (const host of ['localhost', 'localhost:3001', '127.0.0.1:3001', '[::1]:3001', '192.0.2.7'])
      expect(await statusFor(host), host).to.equal(200);
    for (const host of ['example.org', 'example.org:3001', 'localhost.example.org', '127.0.0.1.example.org'])
      expect(await statusFor(host), host).to.equal(421);
    for (const adminHost of ['LOCALHOST', '127.9.9.9', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1']) {
      operations.config.adminHost = adminHost;
      expect(await statusFor('example.org'), adminHost).to.equal(421);
    }
    operations.config.adminHost = '0.0.0.0';
    expect(await statusFor('replica-1:3001')).to.equal(200);
  });

  for (const path of [...PATHS, '/none', '/Livez', '/livez/']) {
    it(`sends the security headers of the API, and forbids caching: ${path}`, async () => {
      const { headers } = await send(path);
      for (let i = 0; i < SECURITY_HEADERS.length; i += 2) {
        expect(headers[SECURITY_HEADERS[i].toLowerCase()]).to.equal(SECURITY_HEADERS[i + 1]);
      }
      expect(headers['cache-control']).to.equal('no-store');
      expect(headers).not.to.have.any.keys('x-powered-by', 'etag');
    });
  }

  for (const path of PATHS) {
    it(`responds to HEAD as to GET without a body, and to other methods with 405: ${path}`, async () => {
      const head = await send(path, 'head');
      expect(head.status).to.equal(200);
      expect(head.text || '').to.equal(''); // superagent leaves it undefined for an empty body
      expect(Number(head.headers['content-length'])).to.be.greaterThan(0);
      for (const method of ['post', 'options'] as const) {
        const { status, headers, body } = await send(path, method);
        expect(status).to.equal(405);
        expect(headers['allow']).to.equal('GET, HEAD');
        expect(body).to.have.all.keys('detail');
      }
    });
  }

  it('responds with 404 in JSON at other paths', async () => {
    for (const path of ['/none', '/v1/events', '/Livez', '/livez/', '/%']) {
      const { status, headers, body } = await send(path);
      expect(status, path).to.equal(404);
      expect(headers['content-type']).to.equal('application/json');
      expect(body).to.have.all.keys('detail');
      expect(JSON.stringify(body)).not.to.include('events');
    }
  });

  it('responds with 500 in JSON to an unexpected error, whose reason only the log has', async () => {
    operations.clock = () => {
      throw new Error('canary');
    };
    for (const path of ['/readyz', '/metrics', '/status']) {
      const { status, text, headers } = await send(path);
      expect(status).to.equal(500);
      expect(headers['content-type']).to.equal('application/json');
      expect(text).not.to.include('canary');
    }
    expect(operations.errors).to.have.length(3);
    expect(operations.errors[0]).to.include('canary');
  });
});
