import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { ROOT } from '../support/command.ts';
import { needs } from '../support/components.ts';
import { freePort } from '../support/free-port.ts';
import { build } from '../support/import-folder.ts';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const ORGANIZATION = 'theatre-des-trois-ponts';
const HOST = 'tickets.example.org';
const REFUSALS = 5;

/** Returns the nginx configuration of docs/operations.md, on a local port without TLS. */
function configuration(port: number, upstream: number, folder: string): string {
  const document = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
  const [, http = ''] = /```nginx\n(limit_conn_zone[^]*?)```/.exec(document) ?? [];
  const local = http
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
    .replace('server 127.0.0.1:3000;', `server 127.0.0.1:${upstream};`)
    .replaceAll(/^ *ssl_certificate.*\n/gm, '');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const paths = temporary.map((name) => `${name}_temp_path ${join(folder, name)};`).join('\n');
  return `daemon off; pid ${join(folder, 'pid')}; error_log stderr emerg; events {}
    http { access_log off; ${paths}\n${local} }`;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

describe('A replica behind nginx with the documented configuration', () => {
  needs('nginx');
  const inFolder = folderForAll();
  const agent = new Agent({ keepAlive: true });
  const started = new AsyncDisposableStack();
  let port: number;
  let credential: string;

  before(async () => {
    const replica = await ReplicaUnderTest.start(inFolder, {
      TRUST_PROXY: 'loopback',
      PUBLIC_BASE_URL: `https://${HOST}`,
      REFUSALS_PER_MINUTE: String(REFUSALS),
      MAX_CONNECTIONS_PER_ADDRESS: '1',
    });
    started.defer(() => replica.end());
    await build('data/sample', inFolder('snapshots/sample.sqlite'));
    credential = newCredential(inFolder, ORGANIZATION);
    await Promise.all([
      replica.waitForLog({ msg: 'snapshot live' }),
      replica.waitForLog({ msg: 'keys live', validKeys: 1 }),
    ]);
    port = await freePort();
    mkdirSync(inFolder('nginx'));
    const file = inFolder('nginx/nginx.conf');
    writeFileSync(file, configuration(port, replica.port, inFolder('nginx')));
    const nginx = spawn('nginx', ['-c', file], { stdio: 'inherit' });
    started.defer(async () => {
      if (nginx.kill('SIGTERM')) await once(nginx, 'exit');
    });
    while ((await get('/healthz', '127.0.0.1').catch(() => undefined)) === undefined) await delay(20);
  });

  after(async () => {
    agent.destroy();
    await started.disposeAsync();
  });

  /** Sends a request through the proxy, from a client address in 127.0.0.0/8. */
  function get(path: string, from: string, headers: Readonly<Record<string, string>> = {}, body = '') {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const options = { agent, port, host: '127.0.0.1', localAddress: from, path };
    request({ ...options, headers: { Host: HOST, ...headers } }, (response) => {
      text(response).then((content) => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: content });
      }, reject);
    })
      .on('error', reject)
      .end(body);
    return promise;
  }
  const authorized = () => ({ Authorization: `Bearer ${credential}` });

  it('answers many clients at once, with public links', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => get('/v1/tickets?perPage=1', `127.0.1.${i + 1}`, authorized())),
    );
    for (const { status, text: body } of answers) {
      expect(status).to.equal(200);
      expect(JSON.parse(body))
        .to.have.property('nextPage')
        .that.matches(new RegExp(`^https://${HOST}/v1/`));
    }
  });

  it('passes on compressed responses and their entity tags', async () => {
    const headers = { ...authorized(), 'Accept-Encoding': 'gzip' };
    const first = await get('/v1/events', '127.0.0.6', headers);
    expect(first.headers).to.include({ 'content-encoding': 'gzip' });
    const { etag = '' } = first.headers;
    const again = await get('/v1/events', '127.0.0.6', { ...headers, 'If-None-Match': etag });
    expect(again).to.include({ status: 304 });
  });

  it('gives each client address a budget of refusals, which a forged header does not change', async () => {
    const forged = (i: number) => ({ 'X-Forwarded-For': `192.0.2.${i}` });
    for (let i = 0; i < REFUSALS; i++)
      expect(await get('/v1/events', '127.0.0.2', forged(i))).to.include({ status: 400 });
    expect(await get('/v1/events', '127.0.0.2', forged(99))).to.include({ status: 429 });
    expect(await get('/v1/events', '127.0.0.3')).to.include({ status: 400 });
    expect(await get('/v1/events', '127.0.0.2', authorized())).to.include({ status: 200 });
  });

  it('refuses request bodies at the proxy', async () => {
    const headers = { ...authorized(), 'Content-Length': '2000' };
    expect(await get('/v1/events', '127.0.0.4', headers, 'x'.repeat(2000))).to.include({ status: 413 });
  });

  it('limits the requests of a client address at the proxy', async () => {
    const answers = await Promise.all(
      Array.from({ length: 260 }, () => get('/v1/events?perPage=1', '127.0.0.5', authorized())),
    );
    const limited = answers.filter(({ status }) => status !== 200);
    expect(limited).to.have.length.above(0);
    for (const { status, headers, text: body } of limited) {
      expect(status).to.equal(429);
      expect(headers).to.include({ 'retry-after': '1', 'content-type': 'application/json' });
      expect(JSON.parse(body)).to.have.property('detail').that.is.a('string');
    }
    expect(answers.length - limited.length).to.be.above(50);
  });
});
