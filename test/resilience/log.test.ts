import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
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

const LISTENING = /"port":(\d+)[^\n]*"msg":"listening"/;
const LISTENING_FOR_OPERATORS = /"port":(\d+)[^\n]*"msg":"listening for operators"/;

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
  let credential: string;
  let replica: ChildProcess | undefined;

  before(async () => {
    credential = await placeSample(inFolder);
  });

  afterEach(() => replica?.kill('SIGKILL'));

  const environment = () => ({ ...environmentIn(inFolder), RATE_LIMIT_PER_MINUTE: '0' });

  /** Floods the replica. Expects every request to be answered: responses do not wait for the reader. */
  async function expectAnswers(port: string, requests: number): Promise<void> {
    expect(await flood(Number(port), credential, requests)).to.equal(requests);
  }

  async function droppedLines(adminPort: string): Promise<number> {
    const metrics = await fetch(`http://127.0.0.1:${adminPort}/metrics`);
    return metricIn(await metrics.text(), 'foyer_log_lines_dropped_total');
  }

  /** Waits until the log has all other lines of `requests` requests, whole, and reports of all dropped ones. */
  async function expectAllBut(dropped: number, requests: number, log: () => string): Promise<void> {
    for (;;) {
      const lines = log()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as { msg: string; lines?: number });
      const reports = lines.filter(({ msg }) => msg === 'log lines dropped');
      const reported = reports.reduce((sum, { lines: count = 0 }) => sum + count, 0);
      const written = lines.filter(({ msg }) => msg === 'request').length;
      expect(reported).to.be.at.most(dropped);
      expect(written).to.be.at.most(requests - dropped);
      if (reported === dropped && written === requests - dropped) return;
      await delay(100);
    }
  }

  /** Stops the replica. The log does not delay its exit. */
  async function expectExit(process: ChildProcess): Promise<void> {
    const signalled = performance.now();
    process.kill('SIGTERM');
    expect(await once(process, 'exit')).to.deep.equal([0, null]);
    expect(performance.now() - signalled).to.be.below(MAX_SHUTDOWN_MS);
  }

  it('costs only log lines, which are counted, when the reader stalls and standard error is full', async () => {
    const errors = fullPipe(inFolder('errors'));
    const path = inFolder('output');
    const reader = StallingReader.start('non-blocking pipe', 'src/main.ts', path, environment(), errors);
    replica = reader.process;
    const [, adminPort] = await reader.reads(LISTENING_FOR_OPERATORS);
    const [, port] = await reader.reads(LISTENING);
    await Promise.all([reader.reads(/"msg":"snapshot live"/), reader.reads(/"msg":"keys live"/)]);
    await expectAnswers(port, FEW_REQUESTS);
    expect(await droppedLines(adminPort)).to.equal(0);

    await reader.stall();
    await expectAnswers(port, REQUESTS);
    const dropped = await droppedLines(adminPort);
    expect(dropped).to.be.within(1, REQUESTS);
    reader.resume();
    await expectAllBut(dropped, FEW_REQUESTS + REQUESTS, () => reader.text);

    await reader.stall();
    await expectAnswers(port, FEW_REQUESTS);
    await expectExit(replica);
    await reader.close();
    closeSync(errors);
  });
});
