import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { formatCredential } from '../../src/keys/credential.ts';
import { KeysFile, type NewKey } from '../../src/keys/keys-file.ts';
import { placeSample, ReplicaUnderTest, SAMPLE_ORGANIZATION } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { DUMP_SIGNAL, dumpedBy, heapFile, REPORT_FILE } from './memory-dump.ts';

/** The main thread and the worker. */
const THREADS = [0, 1];
/** Secrets that a client sends. None is a number, a word of the API, or part of another. */
const planted = (place: string) => `planted-in-${place}-x7Qf3VdZ0aLwM9rT2cKeYp`;

interface Sent {
  readonly secrets: readonly string[];
  readonly status: number;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

describe('A secret that a client has sent', () => {
  const inFolder = folderForAll();
  let replica: ReplicaUnderTest;
  let output: string;
  let validKeyId: string;
  const responses: string[] = [];
  /** The secrets by the requests that had them. */
  const secrets = new Map<string, readonly string[]>();

  /** Declares the requests. Each is the last one of its connection, which stays open. */
  function requestsOf(file: KeysFile): ReadonlyMap<string, Sent> {
    const now = new Date();
    const withKey = (key: NewKey) => ({ Authorization: `Bearer ${formatCredential(key)}` });
    const valid = file.create(SAMPLE_ORGANIZATION, '', now);
    const revoked = file.create(SAMPLE_ORGANIZATION, '', now);
    const expired = file.create(SAMPLE_ORGANIZATION, '', now);
    file.revoke(revoked.keyId, now);
    file.rotate(expired.keyId, 0, now);
    validKeyId = valid.keyId;
    const authorized = withKey(valid);
    const credentialOf = (secret: string) => `svc:o:${SAMPLE_ORGANIZATION}:${secret}`;
    const inKey = (place: string, form: (secret: string) => string): Sent => ({
      secrets: [planted(place)],
      status: 403,
      headers: { Authorization: `Bearer ${form(planted(place))}` },
    });
    const inPath = (place: string, form: (secret: string) => string, status: number): Sent => ({
      secrets: [planted(place), valid.secret],
      status,
      path: form(planted(place)),
      headers: authorized,
    });
    return new Map<string, Sent>([
      ['a valid key', { secrets: [valid.secret], status: 200, headers: authorized }],
      ['a revoked key', { secrets: [revoked.secret], status: 403, headers: withKey(revoked) }],
      ['an expired key', { secrets: [expired.secret], status: 403, headers: withKey(expired) }],
      ['an unknown key', inKey('key', credentialOf)],
      ['an unknown organization', inKey('organization', (secret) => `svc:o:${secret}:${secret}`)],
      ['a malformed key', { ...inKey('malformed', (secret) => secret), status: 400 }],
      [
        'headers without a function',
        {
          secrets: [planted('api-key'), planted('cookie'), planted('request-id'), valid.secret],
          status: 200,
          headers: {
            ...authorized,
            'X-Api-Key': planted('api-key'),
            Cookie: `session=${planted('cookie')}`,
            'X-Request-Id': credentialOf(planted('request-id')),
          },
        },
      ],
      ['a path', inPath('path', (secret) => `/v1/tickets/${secret}`, 404)],
      ['an unknown path', inPath('unknown-path', (secret) => `/v2/${secret}`, 404)],
      ['a query', inPath('query', (secret) => `/v1/events?api_key=${credentialOf(secret)}`, 200)],
      ['a refused query', inPath('refused-query', (secret) => `/v1/events?page=0&token=${secret}`, 400)],
    ]);
  }

  before(async () => {
    await placeSample(inFolder);
    const requests = requestsOf(new KeysFile(inFolder('keys.sqlite')));
    replica = await ReplicaUnderTest.startReady(inFolder, {
      NODE_OPTIONS: `--import=${new URL('memory-dump.ts', import.meta.url).href}`,
      DUMP_FOLDER: inFolder(''),
    });
    const agents: Agent[] = [];
    for (const [name, { secrets: sent, status, path = '/v1/events', headers = {} }] of requests) {
      const agent = new Agent({ keepAlive: true });
      agents.push(agent);
      const answer = await replica.request(path, '', headers, agent);
      expect(answer.status, name).to.equal(status);
      responses.push(JSON.stringify(answer));
      secrets.set(name, sent);
    }
    for (const [name, head] of [
      ['two keys', 'GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n'],
      ['a malformed header', 'GET /v1/events HTTP/1.1\r\nHost: x\r\nno colon\r\n'],
      ['an unknown method', 'GRAB /v1/events HTTP/1.1\r\n'],
    ]) {
      const secret = planted(name.replaceAll(' ', '-'));
      const socket = connect(replica.port, '127.0.0.1');
      socket.end(
        `${head}Authorization: Bearer svc:o:${SAMPLE_ORGANIZATION}:${secret}\r\nConnection: close\r\n\r\n`,
      );
      responses.push(await text(socket));
      expect(responses.at(-1)).to.match(/^HTTP\/1.1 40[05] /);
      secrets.set(name, [secret]);
    }
    for (const page of ['/status', '/metrics', '/readyz'])
      responses.push((await replica.requestAdmin(page)).text);
    replica.signal(DUMP_SIGNAL);
    await Promise.all(THREADS.map((thread) => replica.waitForLog({ msg: dumpedBy(thread) })));
    for (const agent of agents) agent.destroy();
    await replica.end();
    const { stdout, stderr } = await replica.ended;
    output = stdout + stderr;
  });

  after(() => replica.end());

  function expectAbsent(content: string): void {
    const found = [...secrets].filter(([, sent]) => sent.some((secret) => content.includes(secret)));
    expect(found.map(([name]) => name)).to.deep.equal([]);
  }

  it('is not in the log', () => {
    expect(output).to.include(validKeyId);
    expectAbsent(output);
  });

  it('is not in a response, the status and the metrics', () => {
    expectAbsent(responses.join('\n'));
  });

  for (const thread of THREADS) {
    it(`is not in the heap of ${thread === 0 ? 'the main thread' : 'a worker'} after the request, while connections are open`, () => {
      const heap = readFileSync(inFolder(heapFile(thread)), 'latin1');
      expect(heap).to.include(validKeyId);
      expectAbsent(heap);
    });
  }

  it('is not in a diagnostic report', () => {
    const report = readFileSync(inFolder(REPORT_FILE), 'utf8');
    expect(report).to.include('"javascriptHeap"');
    expectAbsent(report);
  });
});
