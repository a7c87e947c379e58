import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { alteredCopy, asSnapshot, snapshotIdOf } from '../support/altered-snapshot.ts';
import { needs } from '../support/components.ts';
import { freePort } from '../support/free-port.ts';
import { buildFile } from '../support/import-folder.ts';
import { inOrganization, minimalTicket, times } from '../support/records.ts';
import { RawClient } from '../support/raw-client.ts';
import { type Answer, newCredential } from '../support/replica-under-test.ts';
import { smallImport } from '../support/small-import.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { Fleet, HOST, type Member, receivesRequests, whileWalking } from './fleet.ts';
import { type FleetClient, getByHttp2 } from './fleet-client.ts';

const REPLICAS = 3;
const ORGANIZATIONS = times(60, (i) => `org-${i}`);
/** Tickets of each organization. */
const TICKETS = 60;
/** An organization whose tickets have some 24 MB: more than the buffers of connections hold. */
const LARGE = 'large';
const LARGE_TICKETS = 6000;
const REFUSALS = 5;
const TOO_MANY = 'Too many requests from this address';

/** In the configuration of HAProxy, since 3.2. */
const HAPROXY_HAS_HTTP2 = !/version (2|3\.[01])\./.test(
  spawnSync('haproxy', ['-v'], { encoding: 'utf8' }).stdout,
);

/** `flood` requests without a credential exceed the limit. A proxy without health checks uses replicas that load. */
for (const { program, hasHttp2, flood, hasChecks } of [
  { program: 'nginx', hasHttp2: true, flood: 300, hasChecks: false },
  { program: 'haproxy', hasHttp2: HAPROXY_HAS_HTTP2, flood: 500, hasChecks: true },
] as const) {
  describe(`Replicas behind ${program}`, () => {
    needs(program);
    needs('openssl');
    const inFolder = folderForAll();
    const credentials = new Map<string, string>();
    let otherKey = '';
    let fleet: Fleet;
    let client: FleetClient;

    before(async () => {
      const { tickets, ...others } = smallImport([...ORGANIZATIONS, LARGE]);
      const name = 'x'.repeat(4000);
      const large = times(LARGE_TICKETS, (i) => minimalTicket(`tkt_${i}`, { offerName: name }));
      const ofOthers = tickets.filter(({ organizationId }) => organizationId !== LARGE);
      const all = [...ofOthers, ...large.map(inOrganization(LARGE))];
      await buildFile({ ...others, tickets: all }, inFolder('built'));
      for (const id of [...ORGANIZATIONS, LARGE]) credentials.set(id, newCredential(inFolder, id));
      otherKey = newCredential(inFolder, ORGANIZATIONS[0]);
      fleet = await Fleet.start({
        program,
        shards: [REPLICAS],
        inFolder,
        environment: { REFUSALS_PER_MINUTE: String(REFUSALS) },
        // The same content, and the id of the snapshot tells the replica.
        place: (inOwn, id) =>
          void alteredCopy(inFolder('built'), inOwn('snapshots/all.sqlite'), asSnapshot(id)),
      });
      ({ client } = fleet);
    });

    after(async () => {
      await fleet[Symbol.asyncDispose]();
    });

    const credentialOf = (organization: string) => credentials.get(organization) ?? '';
    const ask = (organization: string, from = client) =>
      from.get('/v1/tickets?perPage=1', credentialOf(organization));

    /** Returns the replica that each organization has with new connections. */
    async function routes(organizations: readonly string[] = ORGANIZATIONS): Promise<Map<string, number>> {
      const fresh = fleet.newClient('127.0.0.7');
      const found = new Map<string, number>();
      for (const id of organizations)
        found.set(id, replicaOf(await fresh.persist('/v1/tickets?perPage=1', credentialOf(id))));
      fresh.close();
      return found;
    }

    async function memberOf(organization: string): Promise<Member> {
      const id = replicaOf(await ask(organization));
      return fleet.members.find((member) => member.id === id) ?? expect.fail();
    }

    it('sends all requests of an organization to one replica, whatever key, form and connection they have', async () => {
      for (const organization of ORGANIZATIONS.slice(0, 12)) {
        const credential = credentialOf(organization);
        const home = replicaOf(await ask(organization));
        const header = (value: string | string[]) => client.get('/v1/events', '', { Authorization: value });
        const session = await fleet.newClient('127.0.0.9').http2();
        const answers = await Promise.all([
          header(`bearer ${credential}`),
          header(`BEARER   ${credential}`),
          header(`\tBearer ${credential} \t`),
          ...(session
            ? ['Bearer', ' Bearer'].map((scheme) =>
                getByHttp2(session, '/v1/tickets?perPage=2', '', {
                  Authorization: `${scheme} ${credential} `,
                }),
              )
            : []),
          fleet.newClient('127.0.0.8').get('/v1/orders', credential),
          ...(organization === ORGANIZATIONS[0] ? [client.get('/v1/events', otherKey)] : []),
        ]);
        session?.close();
        expect(session === undefined).to.equal(!hasHttp2);
        expect(answers.map(replicaOf), organization).to.deep.equal(answers.map(() => home));
      }
      // A second credential reaches no other replica, where the limit of the key would count anew.
      const Authorization = ORGANIZATIONS.slice(0, 2).map((id) => `Bearer ${credentialOf(id)}`);
      expect(await client.get('/v1/events', '', { Authorization })).to.include({ status: 400 });
    });

    it('spreads organizations over all replicas', async () => {
      const counts = Map.groupBy((await routes()).values(), (id) => id);
      for (const { id } of fleet.members)
        expect(counts.get(id), `replica ${id}`).to.have.length.within(8, 36);
    });

    it('moves the organizations of a removed replica, and no others', async () => {
      const before = await routes();
      const [first, removed, last] = fleet.members;
      await fleet.proxy.reload([[first, last]]);
      const without = await routes();
      for (const [organization, id] of before)
        if (id !== removed.id) expect(without.get(organization), organization).to.equal(id);
      expect(new Set(without.values())).to.deep.equal(new Set([first.id, last.id]));
      await fleet.proxy.reload();
      expect(await routes()).to.deep.equal(before);
    });

    it('breaks no connection when replicas restart one after the other', async () => {
      const walked = ORGANIZATIONS.map((id) => ({ credential: credentialOf(id), tickets: TICKETS }));
      const repeats = await whileWalking(fleet, walked, async (walks) => {
        for (const member of fleet.members) {
          await walks(10);
          await member.end('SIGTERM');
          await walks(10);
          await member.start();
          await receivesRequests(member.process);
        }
      });
      expect(repeats).to.have.property('broken', 0);
      if (hasChecks) expect(repeats).to.have.property('later', 0);
    });

    it('gives each client address a budget of refusals, which a forged header does not change', async () => {
      const [spender, other] = ['127.0.0.2', '127.0.0.3'].map((address) => fleet.newClient(address));
      const forged = (i: number) => ({ 'X-Forwarded-For': `192.0.2.${i}`, Forwarded: `for=192.0.2.${i}` });
      for (let i = 0; i < REFUSALS; i++)
        expect(await spender.get('/v1/events', '', forged(i))).to.include({ status: 400 });
      expect(await spender.get('/v1/events', '', forged(99))).to.include({ status: 429 });
      expect(await other.get('/v1/events')).to.include({ status: 400 });
      expect(await ask(ORGANIZATIONS[1], spender)).to.include({ status: 200 });
    });

    it('limits the requests of an address without a credential, and no others', async () => {
      const clients = times(5, () => fleet.newClient('127.0.0.5'));
      const answers = await Promise.all(times(flood, (i) => clients[i % 5].get('/v1/events')));
      const limited = answers.filter((answer) => answer.text.includes(TOO_MANY));
      expect(limited).to.have.length.above(flood / 5);
      for (const { status, headers } of limited) {
        expect(status).to.equal(429);
        expect(headers).to.include({ 'retry-after': '1', 'content-type': 'application/json' });
      }
      expect(await ask(ORGANIZATIONS[2], clients[0])).to.include({ status: 200 });
      for (const one of clients) one.close();
    });

    it('passes on compression, entity tags, request ids and public links', async () => {
      const credential = credentialOf(ORGANIZATIONS[3]);
      const headers = { 'Accept-Encoding': 'gzip', 'X-Request-Id': 'of-the-caller' };
      const first = await client.get('/v1/tickets', credential, headers);
      expect(first.headers).to.include({ 'content-encoding': 'gzip', 'x-request-id': 'of-the-caller' });
      const { etag = '', link = '' } = first.headers;
      expect(etag).to.match(/^(W\/)?"/);
      expect(link).to.match(new RegExp(`^<https://${HOST}/v1/tickets`));
      const again = await client.get('/v1/tickets', credential, { ...headers, 'If-None-Match': etag });
      expect(again).to.include({ status: 304, text: '' });
    });

    it('refuses request bodies at the proxy, and passes on long heads, which the replica refuses', async () => {
      for (const [name, value, status] of [
        ['Content-Length', '2000', 413],
        ['Content-Length', String(2 ** 32 + 1), 413],
        ['X-Long', 'x'.repeat(15_500), 200],
        ['X-Long', 'x'.repeat(17_000), 431],
      ] as const) {
        const headers = { [name]: value };
        const response = await fleet.newClient().open('/v1/events', credentialOf(ORGANIZATIONS[0]), headers);
        expect(response.statusCode, `${name}: ${value.slice(0, 12)}`).to.equal(status);
        expect(response.headers['content-type']).to.match(/^application\/json/);
        response.destroy();
      }
    });

    it('answers in JSON at every path', async () => {
      const fresh = fleet.newClient('127.0.0.10');
      for (const path of ['/.refused', '//refused', '/%2Frefused', '/%2F/./refused', '/%zz']) {
        const { status, headers } = await fresh.get(path);
        expect(status, path).to.equal(path === '/%zz' && program === 'nginx' ? 400 : 404);
        expect(headers['content-type'], path).to.equal('application/json');
      }
      fresh.close();
    });

    if (program === 'nginx') {
      it('answers plain HTTP in JSON', async () => {
        const plain = new RawClient(fleet.proxy.port);
        plain.socket.write('GET / HTTP/1.0\r\n\r\n');
        await plain.ended;
        expect(plain.received).to.match(/^HTTP\/1.1 400 [^]*\r\nContent-Type: application\/json\r\n/);
      });
    }

    it('takes no replica for failed because of the longest heads of responses', async () => {
      const unknown = times(999, (i) => `u${i}`).join('&');
      const longest = `/v1/tickets?perPage=1&eventIds=evt_0,${'x'.repeat(1860)}&${unknown}`;
      for (let i = 0; i < 99; i++) {
        const headers = { 'X-Request-Id': 'r'.repeat(128) };
        const answer = await client.get(longest, credentialOf(ORGANIZATIONS[4]), headers);
        expect(answer).to.include({ status: 200 });
        expect(String(answer.headers['link'])).to.have.length.within(1990, 2020);
        expect(answer.headers['service-api-ignored-parameters']).to.match(/u50, .*\.\.\.$/);
        expect(await ask(ORGANIZATIONS[i % ORGANIZATIONS.length])).to.include({ status: 200 });
      }
    });

    const openStream = () =>
      client.open('/v1/tickets', credentialOf(LARGE), { Accept: 'application/x-ndjson' });

    it('passes on streams as the client reads them, and whole', async () => {
      const member = await memberOf(LARGE);
      const stream = await openStream();
      await once(stream, 'readable');
      // Neither the proxy nor its disk takes the rest of the stream.
      for (const organization of ORGANIZATIONS) expect(await ask(organization)).to.include({ status: 200 });
      expect(await member.process.metric('foyer_streams_open')).to.equal(1);
      const ids = (await text(stream)).match(/"ticketId":"[^"]*"/g);
      expect(new Set(ids).size).to.equal(LARGE_TICKETS);
      await member.process.waitForMetric('foyer_streams_open', 0);
    });

    it('breaks streams off visibly when their replica is killed', async () => {
      const member = await memberOf(LARGE);
      const session = await fleet.newClient().http2();
      const headers = { Accept: 'application/x-ndjson', Authorization: `Bearer ${credentialOf(LARGE)}` };
      // Its error may come before its reader.
      const byHttp2 = session?.request({ ':path': '/v1/tickets', ...headers }).on('error', () => undefined);
      const stream = await openStream();
      for (const one of [stream, byHttp2]) if (one) await once(one, 'readable');
      await member.end('SIGKILL');
      expect(await failureOf(text(stream))).to.be.an('error');
      // Node does not report the code CANCEL as an error.
      if (byHttp2) expect((await failureOf(text(byHttp2))) ?? byHttp2.rstCode).not.to.equal(0);
      session?.destroy();
      await member.start();
    });

    it('answers 503 with Retry-After while there is no replica', async () => {
      const dead = await freePort();
      await fleet.proxy.reload([[{ id: 1, port: dead, adminPort: dead }]]);
      const answer = await ask(ORGANIZATIONS[0]);
      expect(answer).to.include({ status: 503 });
      expect(answer.headers).to.include({ 'retry-after': '2', 'content-type': 'application/json' });
      expect(JSON.parse(answer.text)).to.have.property('detail');
    });

    if (program === 'haproxy') {
      it('accepts a bound on the load of a replica', () => {
        const file = inFolder('proxy/configuration');
        writeFileSync(
          file,
          readFileSync(file, 'utf8').replace('#hash-balance-factor', 'hash-balance-factor'),
        );
        expect(readFileSync(file, 'utf8')).to.match(/^ +hash-balance-factor 150$/m);
        execFileSync('haproxy', ['-c', '-f', file]);
      });
    }
  });
}

/** Returns the replica of an answer, by the id of its snapshot. */
function replicaOf({
  status,
  headers,
  text,
}: {
  status: number;
  headers: Answer['headers'] | Record<string, unknown>;
  text: string;
}): number {
  expect(status, text).to.equal(200);
  const id = times(REPLICAS, (i) => i + 1).find((n) => headers['service-snapshot-id'] === snapshotIdOf(n));
  return id ?? expect.fail(String(headers['service-snapshot-id']));
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    return error;
  }
}
