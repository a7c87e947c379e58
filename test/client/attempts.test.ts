import { createServer, type RequestListener } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import {
  ConnectionError,
  FoyerClient,
  FoyerError,
  IgnoredFilterError,
  ResponseError,
} from '../../client/src/foyer-client.ts';
import { rejectionOf } from '../support/refusal.ts';
import { servesForEach } from '../support/serve.ts';
import { broken, clientOf, CREDENTIAL, refused, SOURCE } from './scripted-client.ts';

const record = () => Response.json({ ticketId: 'tkt_1' }, { headers: SOURCE });
const failed = (reason: string) => new TypeError('fetch failed', { cause: new Error(reason) });
const page = (nextPage: string | null) => Response.json({ items: [{}], nextPage }, { headers: SOURCE });
const lines = (body: ReadableStream | string, count: number) =>
  new Response(body, { headers: { ...SOURCE, ETag: '"t"', 'Service-Record-Count': String(count) } });

describe('The TypeScript client repeats a request', () => {
  it('after 429, when the seconds of Retry-After are over, at its date, and soon if it is neither', async () => {
    const date = new Date(Date.now() + 20_000).toUTCString();
    const retryAfter = [date, 'Sat, 01 Jan 2000 00:00:00 GMT', 'soon', '12'];
    const outcomes = retryAfter.map((value) => refused(429, { 'Retry-After': value }));
    const { client, pauses } = clientOf([...outcomes, record()]);
    expect(await client.tickets.get('tkt_1')).to.have.property('ticketId', 'tkt_1');
    expect(pauses[0]).to.be.within(15_000, 20_000);
    expect(pauses[1]).to.be.at.most(1000);
    expect(pauses[2]).to.be.at.most(2000);
    expect(pauses.slice(3)).to.deep.equal([12_000]);
  });

  it('after 5xx and failures of the connection, also within a body, after pauses that double', async () => {
    const { client, pauses } = clientOf([
      refused(503),
      failed('connect ECONNREFUSED'),
      new Response(broken('{"ticketId":'), { headers: SOURCE }),
      refused(500),
      record(),
    ]);
    expect(await client.tickets.get('tkt_1')).to.have.property('ticketId', 'tkt_1');
    expect(pauses).to.have.length(4);
    for (const [i, pause] of pauses.entries()) expect(pause).to.be.within(250 * 2 ** i, 500 * 2 ** i);
  });

  it('up to a number of attempts, and then raises the last error', async () => {
    const outcomes = Array.from({ length: 9 }, () => refused(503));
    const { client, requests } = clientOf(outcomes, { maxAttempts: 3 });
    const error = await rejectionOf(client.tickets.get('tkt_1'));
    expect(error).to.be.instanceOf(ResponseError).and.to.include({ status: 503, detail: 'Try again.' });
    expect(requests).to.have.length(3);
    const offline = clientOf([failed('ENOTFOUND')], { maxAttempts: 1 });
    const connection = await rejectionOf(offline.client.tickets.get('tkt_1'));
    expect(connection).to.be.instanceOf(ConnectionError);
    expect(connection.message).to.equal('GET /v1/tickets/tkt_1: ENOTFOUND');
  });

  it('up to a sum of pauses, and then raises the time to wait at once', async () => {
    const long = () => refused(429, { 'Retry-After': '60' });
    const { client, pauses } = clientOf([long(), long(), long()], { maxWaitSeconds: 100 });
    const error = await rejectionOf(client.tickets.get('tkt_1'));
    expect(error).to.include({ status: 429, retryAfterSeconds: 60 });
    expect(pauses).to.deep.equal([60_000]);
  });

  it('never after another refusal', async () => {
    for (const status of [400, 403, 404, 405, 413]) {
      const { client, requests } = clientOf([refused(status)]);
      expect(await rejectionOf(client.tickets.get('tkt_1'))).to.have.property('status', status);
      expect(requests).to.have.length(1);
    }
  });

  it('not when the caller aborts, during a request or a pause', async () => {
    const reason = new Error('stopped by the caller');
    const hanging = (init: RequestInit | undefined) =>
      new Promise<Response>((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => {
          reject(init.signal?.reason as Error);
        });
      });
    for (const options of [
      { fetch: (_url: unknown, init?: RequestInit) => hanging(init), maxAttempts: 1 },
      { fetch: () => Promise.resolve(refused(429, { 'Retry-After': '100' })), wait: undefined },
    ]) {
      const ending = new AbortController();
      const { client } = clientOf([], options);
      const error = rejectionOf(client.tickets.get('tkt_1', { signal: ending.signal }));
      await setTimeout();
      ending.abort(reason);
      expect(await error).to.equal(reason);
      const ofClient = clientOf([], { ...options, signal: ending.signal });
      expect(await rejectionOf(ofClient.client.tickets.get('tkt_1'))).to.equal(reason);
    }
  });
});

describe('The TypeScript client', () => {
  const serve = servesForEach();
  const urlOf = async (listener: RequestListener) =>
    `http://127.0.0.1:${await serve(createServer(listener))}`;

  it('sends the credential to its own address only, whatever the address in a link', async () => {
    const link = 'https://elsewhere.example.org/other?updatedAt.gte=2026-01-01T00%3A00%3A00%2B01%3A00&page=2';
    const { client, requests } = clientOf([page(link), page(null)], { baseUrl: 'http://127.0.0.1:81/api/' });
    await Array.fromAsync(client.tickets.list());
    expect(requests.map(({ url }) => url)).to.deep.equal([
      'http://127.0.0.1:81/api/v1/tickets?perPage=100',
      'http://127.0.0.1:81/api/v1/tickets?updatedAt.gte=2026-01-01T00%3A00%3A00%2B01%3A00&page=2',
    ]);
    expect(requests[1].headers.get('Authorization')).to.equal(`Bearer ${CREDENTIAL}`);
  });

  it('ends a request without progress, before the head or within the body', async () => {
    const baseUrl = await urlOf(({ url }, response) => {
      if (url === '/v1/tickets/partial') response.writeHead(200, SOURCE).write('{"ticketId":');
    });
    const { client } = clientOf([], { baseUrl, fetch, timeoutSeconds: 0.1, maxAttempts: 1 });
    for (const id of ['silent', 'partial']) {
      const error = await rejectionOf(client.tickets.get(id));
      expect(error).to.be.instanceOf(ConnectionError);
      expect(error.message).to.equal(`GET /v1/tickets/${id}: no progress for 0.1 s`);
    }
  });

  it('refuses a body, or a line of a stream, above maxBytes once it is decompressed', async () => {
    const maxBytes = 100_000;
    let chunks = 0;
    const baseUrl = await urlOf(({ url = '' }, response) => {
      const status = url.endsWith('refused') ? 400 : 200;
      response.writeHead(status, { ...SOURCE, ETag: '"t"', 'Content-Encoding': 'gzip' });
      response.end(gzipSync(JSON.stringify('.'.repeat(10 * maxBytes))));
    });
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(1000));
        if (++chunks === 1000) controller.close();
      },
    });
    const compressed = clientOf([], { baseUrl, fetch, maxBytes }).client.tickets;
    const plain = clientOf([lines(body, 1), lines(`{}\n${'.'.repeat(maxBytes)}.`, 1)], { maxBytes });
    const stream = () => Array.fromAsync(plain.client.tickets.stream());
    for (const [reading, has] of [
      [() => compressed.get('a'), 'has'],
      [() => compressed.get('refused'), 'has'],
      [() => compressed.pages().next(), 'has'],
      [() => compressed.stream().next(), 'has a line of'],
      [stream, 'has a line of'],
      [stream, 'has a line of'],
    ] as const) {
      const error = await rejectionOf(reading());
      expect(error).to.be.instanceOf(FoyerError).and.to.not.be.instanceOf(ConnectionError);
      expect(error.message).to.include(
        `: the body of the response ${has} more than 100000 bytes, the limit maxBytes`,
      );
    }
    expect(chunks).to.be.below(110);
  });

  it('reads streams of any length, with lines up to maxBytes', async () => {
    const line = JSON.stringify({ ticketId: '.'.repeat(85) });
    const { client } = clientOf([lines(`${line}\n`.repeat(100), 100)], { maxBytes: 100 });
    expect(line).to.have.length(100);
    expect(await Array.fromAsync(client.tickets.stream())).to.have.length(100);
  });

  it('reads a long line in a time that grows with its length alone', async function () {
    this.timeout(10_000);
    let chunks = 8192;
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode(chunks > 0 ? ' '.repeat(1024) : '{}\n'));
        if (chunks-- === 0) controller.close();
      },
    });
    expect(await Array.fromAsync(clientOf([lines(body, 1)]).client.tickets.stream())).to.deep.equal([{}]);
  });

  it('does not follow redirects', async () => {
    const paths: (string | undefined)[] = [];
    const baseUrl = await urlOf(({ url }, response) => {
      paths.push(url);
      response.writeHead(308, { Location: '/elsewhere' }).end();
    });
    const { client } = clientOf([], { baseUrl, fetch });
    const error = await rejectionOf(client.tickets.get('tkt_1'));
    expect(error.message).to.equal('GET /v1/tickets/tkt_1: 308: a redirect; set baseUrl to its target');
    expect(paths).to.deep.equal(['/v1/tickets/tkt_1']);
  });

  it('ends the response when the caller stops reading', async () => {
    let isCancelled = false;
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode('{}\n'));
      },
      cancel() {
        isCancelled = true;
      },
    });
    for await (const ticket of clientOf([lines(body, 9)]).client.tickets.stream()) {
      expect(ticket).to.deep.equal({});
      break;
    }
    expect(isCancelled).to.equal(true);
  });

  it('reads records whose characters are in two chunks', async () => {
    const bytes = new TextEncoder().encode('{"ticketId":"é"}\n{"ticketId":"🎭"}\n');
    const body = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const tickets = await Array.fromAsync(clientOf([lines(body, 2)]).client.tickets.stream());
    expect(tickets).to.deep.equal([{ ticketId: 'é' }, { ticketId: '🎭' }]);
  });

  it('accepts refusals in any form, and never shows the credential', async () => {
    for (const [body, detail] of [
      ['<html>Bad gateway</html>', 'Refused'],
      ['null', 'Refused'],
      [JSON.stringify({ detail: 7, errors: [1, null, { loc: 'x' }] }), 'Refused'],
      [JSON.stringify({ detail: `Bearer ${CREDENTIAL}` }), 'Bearer …'],
    ]) {
      const response = new Response(body, { status: 400, statusText: 'Refused' });
      const error = await rejectionOf(clientOf([response]).client.tickets.get('tkt_1'));
      expect(error).to.be.instanceOf(ResponseError).and.to.deep.include({ detail, errors: [] });
    }
  });

  it('refuses a filter that the service ignored, unless it is not strict', async () => {
    const parameters = 'eventId, updatedAt.after';
    const headers = { ...SOURCE, 'Service-API-Ignored-Parameters': parameters };
    const ignoring = () => Response.json({ items: [], nextPage: null }, { headers });
    const strict = clientOf([ignoring()]);
    const error = await rejectionOf(strict.client.tickets.pages().next());
    expect(error).to.be.instanceOf(IgnoredFilterError).and.to.include({ parameters });
    expect(error.message).to.equal(`GET /v1/tickets: the service ignored the query parameters ${parameters}`);
    const lenient = clientOf([ignoring()], { strict: false });
    expect(await Array.fromAsync(lenient.client.tickets.pages())).to.have.length(1);
    const preferences = [strict, lenient].map(({ requests: [{ headers }] }) => headers.get('Prefer'));
    expect(preferences).to.deep.equal(['handling=strict', null]);
  });

  it('reports responses that are not from the service, and streams that break off or lack records', async () => {
    const of = (response: Response) => clientOf([response]).client.tickets;
    expect(await rejectionOf(of(new Response('<html>')).get('a'))).to.be.instanceOf(FoyerError);
    const refusal = new Response('{"detail":"no"}', { status: 404 });
    expect(await rejectionOf(of(refusal).get('a'))).to.have.property('status', 404);
    const read = (reading: AsyncIterable<unknown>) => rejectionOf(Array.fromAsync(reading));
    for (const cut of [lines(broken('{}\n'), 2), lines('{}\n', 2), lines('{}\n{', 1)])
      expect(await read(of(cut).stream())).to.be.instanceOf(ConnectionError);
    for (const [reading, fault] of [
      [of(new Response('{}')).pages(), 'is not a page'],
      [of(page('/v1/tickets?page=2')).pages(), 'has an invalid nextPage'],
      [of(page('null')).pages(), 'has an invalid nextPage'],
      [of(lines('<html>\n', 1)).stream(), 'is not JSON'],
    ] as const) {
      const error = await read(reading);
      expect(error).to.be.instanceOf(FoyerError);
      expect(error.message).to.equal(`GET /v1/tickets: the body of the response ${fault}`);
    }
  });

  it('refuses a base URL or credential in another form, without showing them', () => {
    const baseUrl = 'https://tickets.example.org';
    for (const wrong of ['', 'svc:o:north', `${CREDENTIAL}\n`, `Bearer ${CREDENTIAL}`, 'svc:o:north:sécret'])
      expect(() => new FoyerClient({ baseUrl, credential: wrong }))
        .to.throw(TypeError, /^credential: must have the form/)
        .with.property('message')
        .that.does.not.include('secret');
    for (const wrong of ['ftp://a.org', 'https://user:secret@a.org', `${baseUrl}/?a=b`, 'tickets'])
      expect(() => new FoyerClient({ baseUrl: wrong, credential: CREDENTIAL })).to.throw(TypeError);
  });

  it('refuses options and arguments that it cannot use, and sends no request', async () => {
    for (const [name, wrong] of [
      ['timeoutSeconds', -1],
      ['maxWaitSeconds', NaN],
      ['maxAttempts', 0],
      ['maxAttempts', NaN],
      ['maxBytes', NaN],
    ] as const)
      expect(() => clientOf([], { [name]: wrong })).to.throw(RangeError, `${name}: must`);
    const { client, requests } = clientOf([]);
    const polled = client.events.poll({}, { everySeconds: NaN }).next();
    expect(await rejectionOf(polled)).to.be.instanceOf(RangeError);
    const misspelt = {} as { ticketId: string };
    expect(await rejectionOf(client.tickets.get(misspelt.ticketId))).to.be.instanceOf(TypeError);
    expect(await rejectionOf(client.events.ifChanged('"a\n"'))).to.be.instanceOf(TypeError);
    expect(requests).to.deep.equal([]);
  });

  it('has no time limit that a timer cannot have', async () => {
    const baseUrl = await urlOf((_request, response) => {
      // Later than the end of a timer whose time is too long.
      setImmediate(() => setImmediate(() => response.writeHead(200, SOURCE).end('{}')));
    });
    for (const timeoutSeconds of [Infinity, 3e6]) {
      const { client } = clientOf([], { baseUrl, fetch, timeoutSeconds, maxAttempts: 1 });
      expect(await client.tickets.get('tkt_1')).to.deep.equal({});
    }
  });

  it('polls a list, and yields it when it has changed', async () => {
    const unchanged = () => new Response(null, { status: 304, headers: { ...SOURCE, ETag: '"t"' } });
    const { client, requests, pauses } = clientOf([
      lines('{"id":"a"}\n', 1),
      unchanged(),
      unchanged(),
      lines('{"id":"b"}\n', 1),
    ]);
    const seen: unknown[] = [];
    for await (const { records } of client.events.poll({}, { everySeconds: 30 })) {
      seen.push(...(await Array.fromAsync(records, ({ id }) => id)));
      if (seen.length === 2) break;
    }
    expect(seen).to.deep.equal(['a', 'b']);
    expect(pauses).to.deep.equal([30_000, 30_000, 30_000]);
    const tags = requests.map(({ headers }) => headers.get('If-None-Match'));
    expect(tags).to.deep.equal([null, '"t"', '"t"', '"t"']);
  });
});
