import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { times } from '../support/records.ts';
import { type Answer, placeSample, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const PAGE = '/v1/tickets?perPage=100';
/** More than the 1,024 ready sockets that one poll returns, so that the event loop polls on without timers. */
const CONNECTIONS = 2000;
const ROUNDS = 2;
const STALL_MS = 300;

describe('A replica with a short OVERLOAD_DELAY_MS', () => {
  const inFolder = folderForAll();
  let credential: string;
  let replica: ReplicaUnderTest;

  before(async () => {
    credential = await placeSample(inFolder);
    replica = await ReplicaUnderTest.startReady(inFolder, { OVERLOAD_DELAY_MS: '10' });
  });

  after(() => replica.end());

  it(`answers some of ${CONNECTIONS} requests at once, refuses some with 429 and Retry-After, and resets none`, async () => {
    const agent = new Agent({ keepAlive: true });
    const sendAll = (path: string) =>
      Promise.all(times(CONNECTIONS, () => replica.request(path, credential, {}, agent)));
    // Sent in one turn, each request opens a connection.
    await sendAll('/healthz');
    const answers: Answer[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      // All requests have arrived when the process continues.
      replica.signal('SIGSTOP');
      const sent = sendAll(PAGE);
      const checks = times(10, () => replica.request('/healthz', ''));
      await delay(STALL_MS);
      replica.signal('SIGCONT');
      answers.push(...(await sent));
      for (const check of await Promise.all(checks))
        expect(check, 'a health check').to.include({ status: 200 });
    }
    agent.destroy();
    const refused = answers.filter(({ status }) => status === 429);
    const answered = answers.filter(({ status }) => status === 200);
    expect(refused.length + answered.length).to.equal(ROUNDS * CONNECTIONS);
    expect(refused.length).to.be.greaterThan(10);
    expect(answered.length).to.be.greaterThan(CONNECTIONS);
    for (const { headers, text } of refused) {
      expect(headers['retry-after']).to.equal('1');
      expect(text).to.include('overloaded');
    }
    for (let i = 0; i < 20; i++)
      expect(await replica.request(PAGE, credential), 'a single caller afterwards').to.include({
        status: 200,
      });
    await replica.waitForMetric('foyer_requests_refused_total{reason="overload"}', refused.length);
  });
});
