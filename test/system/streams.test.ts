import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { snapshotIdOf } from '../support/altered-snapshot.ts';
import { Connection, MORTAL } from '../support/connections.ts';
import { MARK, MARKED_IMPORT, markedReplicaForEach, marksIn } from '../support/marked-replica.ts';
import { recordsIn, times } from '../support/records.ts';
import { type Environment, newCredential } from '../support/replica-under-test.ts';

const THREADS = 2;
const GRACE_SECONDS = 2;
/** With their names some 24 MB: more than the buffers of a connection hold. */
const TICKETS = 6000;
const NAME = 'x'.repeat(4000);
const RETAINED_BYTES = 'foyer_store_bytes{state="retained"}';

describe('Streams', () => {
  const { ticket } = recordsIn('north');
  const replica = markedReplicaForEach({
    ...MARKED_IMPORT,
    tickets: times(TICKETS, (i) => ticket(`tkt_${i}`, { offerName: MARK, priceLabel: NAME })),
  });

  const start = (environment: Environment = {}) =>
    replica.start({
      THREADS: String(THREADS),
      NODE_OPTIONS: MORTAL,
      SHUTDOWN_GRACE_SECONDS: String(GRACE_SECONDS),
      ...environment,
    });

  /** Requests a stream, which is not read yet. */
  async function open(credential = replica.credential): Promise<IncomingMessage> {
    const headers = { Accept: 'application/x-ndjson', Authorization: `Bearer ${credential}` };
    const request = get(`${replica.process.origin}/v1/tickets`, { agent: false, headers });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    // The connection of a stream that breaks off is reset.
    for (const emitter of [request, response]) emitter.on('error', () => undefined);
    return response;
  }

  /** Opens two streams, which is the limit of a key. */
  const openTwo = async () => [await open(), await open()];

  /** Reads the rest. Returns the text, and whether HTTP says that it is complete. */
  async function read(stream: IncomingMessage): Promise<{ text: string; isComplete: boolean }> {
    let text = '';
    stream.setEncoding('utf8').on('data', (part: string) => (text += part));
    await new Promise((resolve) => stream.on('close', resolve));
    return { text, isComplete: stream.complete };
  }

  /** Expects all records of the `n`th snapshot, each once. */
  async function expectWhole(stream: IncomingMessage, n: number): Promise<void> {
    const { text, isComplete } = await read(stream);
    expect(isComplete).to.equal(true);
    expect(stream.headers['service-snapshot-id']).to.equal(snapshotIdOf(n));
    expect(new Set(marksIn(text))).to.deep.equal(new Set([n]));
    expect(text.match(/"ticketId"/g)).to.have.length(TICKETS);
    expect(new Set(text.match(/"ticketId":"[^"]*"/g)).size).to.equal(TICKETS);
  }

  async function expectIncomplete(stream: IncomingMessage): Promise<void> {
    expect((await read(stream)).isComplete).to.equal(false);
  }

  it('are two at a time for each key over all threads; a third gets 429 until one has ended', async () => {
    const other = newCredential(replica.inFolder, 'north');
    const process = await start();
    for (let round = 0; round < 3; round++) {
      const streams = [...(await openTwo()), await open(other)];
      expect(streams.map(({ statusCode }) => statusCode)).to.deep.equal([200, 200, 200]);
      for (let i = 0; i < 4; i++) {
        const further = await open();
        expect(further.statusCode).to.equal(429);
        expect(further.headers).to.include({ 'retry-after': '5' });
        expect((await read(further)).text).to.include('streams');
      }
      expect(await replica.ask('/v1/tickets')).to.have.property('status', 200);
      await process.waitForMetric('foyer_streams_open', 3);
      for (const stream of streams) stream.destroy();
      await process.waitForMetric('foyer_streams_open', 0);
    }
    await process.waitForMetric('foyer_requests_refused_total{reason="streams"}', 12);
    expect(process.stdout)
      .to.match(/"status":429,"reason":"streams"/)
      .and.not.to.match(/"status":429,.*"rows"/);
  });

  it('keep to their snapshot when newer data goes live, and keep its data until they end', async () => {
    const process = await start();
    const [stream, left] = await openTwo();
    await replica.publish();
    await expectWhole(stream, 1);
    expect(await process.metric(RETAINED_BYTES)).to.be.greaterThan(0);
    left.destroy();
    await process.waitForMetric(RETAINED_BYTES, 0);
  });

  it('break off when their data is released, although their client does not read', async () => {
    const process = await start({ SNAPSHOT_RETAIN_SECONDS: '0' });
    const stream = await open();
    await replica.publish();
    await process.waitForMetric('foyer_streams_open', 0);
    await expectIncomplete(stream);
  });

  it('do not look complete when their worker ends, and no longer count', async () => {
    const process = await start();
    const streams = await openTwo();
    // The system assigns a connection to a worker, so this ends workers until those of the streams have ended.
    for (let ended = 1; (await process.metric('foyer_streams_open')) > 0; ended++) {
      const connection = new Connection(process);
      await connection.kill();
      connection.close();
      while ((await process.metric('foyer_threads_replaced_total')) < ended) await delay(20);
      await process.waitForMetric('foyer_threads', THREADS);
    }
    await Promise.all(streams.map(expectIncomplete));
    await expectWhole(await open(), 1);
  });

  it('may end within the grace of a shutdown, and do not look complete after it', async () => {
    const process = await start();
    const [first, unread] = await openTwo();
    process.signal('SIGTERM');
    await process.waitForLog({ msg: 'stopping' });
    await expectWhole(first, 1);
    expect(await process.ended).to.include({ code: 0, stderr: '' });
    await expectIncomplete(unread);
  });
});
