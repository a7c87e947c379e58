import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { snapshotIdOf } from '../support/altered-snapshot.ts';
import { Connection, MORTAL } from '../support/connections.ts';
import { MARK, MARKED_IMPORT, MarkedSnapshots, marksIn } from '../support/marked-snapshots.ts';
import { inOrganization, minimalTicket, times } from '../support/records.ts';
import { type Environment, newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const THREADS = 2;
const GRACE_SECONDS = 2;
/** With their names some 24 MB: more than the buffers of a connection hold. */
const TICKETS = 6000;
const NAME = 'x'.repeat(4000);

/** A stream that is not read yet. */
class Stream {
  readonly response: IncomingMessage;

  private constructor(response: IncomingMessage) {
    this.response = response;
    response.on('error', () => undefined);
  }

  static async open({ origin }: ReplicaUnderTest, credential: string): Promise<Stream> {
    const headers = { Accept: 'application/x-ndjson', Authorization: `Bearer ${credential}` };
    const request = get(`${origin}/v1/tickets`, { agent: false, headers });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    // The connection of a stream that breaks off is reset.
    request.on('error', () => undefined);
    return new Stream(response);
  }

  get status(): number | undefined {
    return this.response.statusCode;
  }

  /** Reads the rest. Returns the text, and whether HTTP says that it is complete. */
  async read(): Promise<{ readonly text: string; readonly isComplete: boolean }> {
    let text = '';
    this.response.setEncoding('utf8').on('data', (part: string) => (text += part));
    await new Promise((resolve) => this.response.on('close', resolve));
    return { text, isComplete: this.response.complete };
  }

  close(): void {
    this.response.destroy();
  }
}

describe('Streams', () => {
  const inFolder = folderForAll();
  let replica: ReplicaUnderTest;
  let credential: string;
  let otherCredential: string;
  let snapshots: MarkedSnapshots;
  let latest = 1;

  before(async () => {
    const tickets = times(TICKETS, (i) =>
      inOrganization('north')(minimalTicket(`tkt_${i}`, { offerName: MARK, priceLabel: NAME })),
    );
    snapshots = await MarkedSnapshots.build(inFolder, { ...MARKED_IMPORT, tickets });
    snapshots.place(latest);
    credential = newCredential(inFolder, 'north');
    otherCredential = newCredential(inFolder, 'north');
  });

  beforeEach(() => start());

  afterEach(() => {
    replica.signal('SIGKILL');
  });

  async function start(environment: Environment = {}): Promise<void> {
    replica = await ReplicaUnderTest.startReady(inFolder, {
      THREADS: String(THREADS),
      NODE_OPTIONS: MORTAL,
      SHUTDOWN_GRACE_SECONDS: String(GRACE_SECONDS),
      ...environment,
    });
  }

  const publish = () => snapshots.publish(replica, ++latest);

  /** Opens two streams, which is the limit of a key. */
  const openTwo = async () => [
    await Stream.open(replica, credential),
    await Stream.open(replica, credential),
  ];

  const openStreams = (count: number) => replica.waitForMetric('foyer_streams_open', count);

  it('are two at a time for each key over all threads; a third gets 429 until one has ended', async () => {
    for (let round = 0; round < 3; round++) {
      const [first, second] = await openTwo();
      expect([first.status, second.status]).to.deep.equal([200, 200]);
      for (let i = 0; i < 4; i++) {
        const third = await Stream.open(replica, credential);
        expect(third.status).to.equal(429);
        expect(third.response.headers).to.include({ 'retry-after': '5' });
        expect((await third.read()).text).to.include('streams');
      }
      expect(await replica.request('/v1/tickets', credential)).to.have.property('status', 200);
      const ofOther = await Stream.open(replica, otherCredential);
      expect(ofOther.status).to.equal(200);
      await openStreams(3);
      for (const stream of [first, second, ofOther]) stream.close();
      await openStreams(0);
    }
    await replica.waitForMetric('foyer_requests_over_stream_limit_total', 12);
  });

  it('keep to their snapshot when newer data goes live', async () => {
    const stream = await Stream.open(replica, credential);
    const n = latest;
    await publish();
    const { text, isComplete } = await stream.read();
    expect(isComplete).to.equal(true);
    expect(stream.response.headers['service-snapshot-id']).to.equal(snapshotIdOf(n));
    const marks = marksIn(text);
    expect([marks.length, ...new Set(marks)]).to.deep.equal([TICKETS, n]);
    expect(new Set(text.match(/"ticketId":"[^"]*"/g)).size).to.equal(TICKETS);
  });

  it('keep their data until they end, and break off when it is released', async () => {
    const retained = await Stream.open(replica, credential);
    await publish();
    expect(await replica.metric('foyer_store_bytes_held{state="retained"}')).to.be.greaterThan(0);
    retained.close();
    await replica.waitForMetric('foyer_store_bytes_held{state="retained"}', 0);
    replica.signal('SIGKILL');
    await start({ SNAPSHOT_RETAIN_SECONDS: '0' });
    const released = await Stream.open(replica, credential);
    await publish();
    // Although its client does not read.
    await replica.waitForMetric('foyer_streams_open', 0);
    expect((await released.read()).isComplete).to.equal(false);
  });

  it('do not look complete when their worker ends, and no longer count', async () => {
    const streams = await openTwo();
    // The system assigns a connection to a worker, so this ends workers until those of the streams have ended.
    for (let ended = 1; (await replica.metric('foyer_streams_open')) > 0; ended++) {
      const connection = new Connection(replica);
      await connection.kill();
      connection.close();
      while ((await replica.metric('foyer_threads_replaced_total')) < ended) await delay(20);
      while ((await replica.metric('foyer_threads')) < THREADS) await delay(20);
    }
    for (const stream of streams) expect((await stream.read()).isComplete).to.equal(false);
    const { text, isComplete } = await (await Stream.open(replica, credential)).read();
    expect([marksIn(text).length, isComplete]).to.deep.equal([TICKETS, true]);
  });

  it('may end within the grace of a shutdown, and do not look complete after it', async () => {
    const [read, unread] = await openTwo();
    replica.signal('SIGTERM');
    await replica.waitForLog({ msg: 'stopping' });
    const whole = await read.read();
    expect([marksIn(whole.text).length, whole.isComplete]).to.deep.equal([TICKETS, true]);
    expect(await replica.ended).to.include({ code: 0, stderr: '' });
    expect((await unread.read()).isComplete).to.equal(false);
  });
});
