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

  /** Sends requests one after the other, and returns their statuses. */
  async function askOneAtATime(count: number): Promise<number[]> {
    const statuses: number[] = [];
    for (let i = 0; i < count; i++) statuses.push((await replica.request(PAGE, credential)).status);
    return statuses;
  }

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
    expect(await askOneAtATime(20), 'a single caller afterwards').to.deep.equal(Array(20).fill(200));
    await replica.waitForMetric('foyer_requests_refused_total{reason="overload"}', refused.length);
  });

  it('refuses no request of a caller that sends one at a time while the process stalls', async () => {
    const before = await replica.metric('foyer_requests_refused_total{reason="overload"}');
    const asked = askOneAtATime(200);
    for (let i = 0; i < 3; i++) {
      replica.signal('SIGSTOP');
      await delay(STALL_MS);
      replica.signal('SIGCONT');
      await delay(20);
    }
    expect(await asked).to.deep.equal(Array(200).fill(200));
    expect(await replica.metric('foyer_requests_refused_total{reason="overload"}')).to.equal(before);
  });
});
