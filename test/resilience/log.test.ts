import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { expect } from 'chai';
import { environmentIn, metricIn, placeSample } from '../support/replica-under-test.ts';
import { times } from '../support/records.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { exchange } from '../support/raw-responses.ts';
import { fullPipe, StallingReader } from '../support/stalling-reader.ts';

/** The log lines of these requests exceed the buffers of the worker, the process and the operating system. */
const REQUESTS = 16_000;
/** The log lines of these fill the pipe. */
const FEW_REQUESTS = 1000;
const CONNECTIONS = 16;
const REQUESTS_AT_ONCE = 25;
/** Half a second for late connections, one second for the log reader, the rest for a busy machine. */
const MAX_SHUTDOWN_MS = 3500;

/** Sends requests, pipelined over several connections at a time. Returns the number of responses with 200. */
async function flood(port: number, credential: string, requests: number): Promise<number> {
  const head = `Host: a\r\nAuthorization: Bearer ${credential}\r\nX-Request-Id: ${'x'.repeat(128)}\r\n`;
  const request = `GET /v1/events?perPage=1 HTTP/1.1\r\n${head}`;
  const batch = `${request}\r\n`.repeat(REQUESTS_AT_ONCE - 1) + `${request}Connection: close\r\n\r\n`;
  let batches = requests / REQUESTS_AT_ONCE;
  let answered = 0;
  const send = async () => {
    while (batches-- > 0) {
      const received = await exchange(
        port,
        (socket) => socket.write(batch),
        () => undefined,
      );
      answered += received.split('HTTP/1.1 200 ').length - 1;
    }
  };
  await Promise.all(times(CONNECTIONS, send));
  return answered;
}

describe('A log reader that is behind', () => {
  const inFolder = folderForAll();
  let replica: ChildProcess | undefined;

  afterEach(() => replica?.kill('SIGKILL'));

  it('costs only log lines, which are counted, when the reader stalls and standard error is full', async () => {
    const credential = await placeSample(inFolder);
    const environment = { ...environmentIn(inFolder), RATE_LIMIT_PER_MINUTE: '0' };
    const [output, errors] = [inFolder('output'), fullPipe(inFolder('errors'))];
    const reader = StallingReader.start('non-blocking pipe', 'src/main.ts', output, environment, errors);
    replica = reader.process;
    const [, adminPort] = await reader.reads(/"port":(\d+)[^\n]*"msg":"listening for operators"/);
    const [, port] = await reader.reads(/"port":(\d+)[^\n]*"msg":"listening"/);
    await Promise.all([reader.reads(/"msg":"snapshot live"/), reader.reads(/"msg":"keys live"/)]);

    await reader.stall();
    // Responses do not wait for the reader.
    expect(await flood(Number(port), credential, REQUESTS)).to.equal(REQUESTS);
    const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    const dropped = metricIn(metrics, 'foyer_log_lines_dropped_total');
    expect(dropped).to.be.within(1, REQUESTS);
    reader.resume();
    const [, reported] = await reader.reads(/"lines":(\d+),"msg":"log lines dropped"/);
    expect(Number(reported)).to.equal(dropped);

    await reader.stall();
    expect(await flood(Number(port), credential, FEW_REQUESTS)).to.equal(FEW_REQUESTS);
    const signalled = performance.now();
    replica.kill('SIGTERM');
    expect(await once(replica, 'exit')).to.deep.equal([0, null]);
    expect(performance.now() - signalled).to.be.below(MAX_SHUTDOWN_MS);
    await reader.close();
    closeSync(errors);
  });
});
