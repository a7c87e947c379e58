import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { ROOT } from '../support/command.ts';
import { needs } from '../support/components.ts';
import { freePort } from '../support/serve.ts';
import { type Answer, placeSample, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

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

describe('A replica behind nginx with the documented configuration', () => {
  needs('nginx');
  const inFolder = folderForAll();
  const agents = new Map<string, Agent>();
  const started = new AsyncDisposableStack();
  let replica: ReplicaUnderTest;
  let port: number;
  let credential: string;

  before(async () => {
    credential = await placeSample(inFolder);
    replica = await ReplicaUnderTest.startReady(inFolder, {
      TRUST_PROXY: 'loopback',
      PUBLIC_BASE_URL: `https://${HOST}`,
      REFUSALS_PER_MINUTE: String(REFUSALS),
      MAX_CONNECTIONS_PER_ADDRESS: '1',
    });
    started.defer(() => replica.end());
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
    for (const agent of agents.values()) agent.destroy();
    await started.disposeAsync();
  });

  /** Sends a request through the proxy, from a client address in 127.0.0.0/8, with a valid key or a malformed one. */
  function get(
    path: string,
    from: string,
    key = '',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const agent = agents.getOrInsertComputed(from, () => new Agent({ keepAlive: true, localAddress: from }));
    return replica.request(`http://127.0.0.1:${port}${path}`, key, { Host: HOST, ...headers }, agent);
  }

  it('answers many clients at once, with public links', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => get('/v1/tickets?perPage=1', `127.0.1.${i + 1}`, credential)),
    );
    for (const { status, text: body } of answers) {
      expect(status).to.equal(200);
      expect(JSON.parse(body))
        .to.have.property('nextPage')
        .that.matches(new RegExp(`^https://${HOST}/v1/`));
    }
  });

  it('passes on compressed responses and their entity tags', async () => {
    const headers = { 'Accept-Encoding': 'gzip' };
    const first = await get('/v1/events', '127.0.0.6', credential, headers);
    expect(first.headers).to.include({ 'content-encoding': 'gzip' });
    const { etag = '' } = first.headers;
    const again = await get('/v1/events', '127.0.0.6', credential, { ...headers, 'If-None-Match': etag });
    expect(again).to.include({ status: 304 });
  });

  it('gives each client address a budget of refusals, which a forged header does not change', async () => {
    const forged = (i: number) => ({ 'X-Forwarded-For': `192.0.2.${i}` });
    for (let i = 0; i < REFUSALS; i++)
      expect(await get('/v1/events', '127.0.0.2', '', forged(i))).to.include({ status: 400 });
    expect(await get('/v1/events', '127.0.0.2', '', forged(99))).to.include({ status: 429 });
    expect(await get('/v1/events', '127.0.0.3')).to.include({ status: 400 });
    expect(await get('/v1/events', '127.0.0.2', credential)).to.include({ status: 200 });
  });

  it('refuses request bodies at the proxy', async () => {
    const headers = { 'Content-Length': '2000' };
    expect(await get('/v1/events', '127.0.0.4', credential, headers)).to.include({ status: 413 });
  });

  it('limits the requests of a client address at the proxy', async () => {
    const answers = await Promise.all(
      Array.from({ length: 260 }, () => get('/v1/events?perPage=1', '127.0.0.5', credential)),
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
