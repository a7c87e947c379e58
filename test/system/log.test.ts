import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { folderForAll } from '../support/temporary-folder.ts';
import { run } from '../support/command.ts';
import { newCredential } from '../support/replica-under-test.ts';
import { StallingReader } from '../support/stalling-reader.ts';

const ORGANIZATION = 'theatre-des-trois-ponts';
/** The log lines of these requests exceed the buffers of the worker, the process and the operating system. */
const REQUESTS = 16_000;
const CONNECTIONS = 16;
const REQUESTS_AT_ONCE = 25;
/** Responses that waited for the reader would take a thousand times as long. */
const MAX_SLOWDOWN = 5;
/** Half a second for late connections, one second for the log reader, the rest for a busy machine. */
const MAX_SHUTDOWN_MS = 3500;

interface Flood {
  /** Number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly milliseconds: number;
}

/** Sends `REQUESTS` requests, pipelined over several connections. */
async function flood(port: number, credential: string): Promise<Flood> {
  const head = `Host: localhost\r\nAuthorization: Bearer ${credential}\r\nX-Request-Id: ${'x'.repeat(128)}`;
  const request = `GET /v1/events?perPage=1 HTTP/1.1\r\n${head}\r\n\r\n`;
  const statuses: Record<string, number> = {};
  let left = REQUESTS;
  const connection = async () => {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    let awaited = 0;
    let received = '';
    const next = () => {
      awaited = Math.min(REQUESTS_AT_ONCE, left);
      left -= awaited;
      received = '';
      if (awaited > 0) socket.write(request.repeat(awaited));
      else socket.end();
    };
    socket.on('connect', next).on('data', (data) => {
      received += String(data);
      const answers = Array.from(received.matchAll(/HTTP\/1\.1 (\d{3})/g), ([, status]) => status);
      if (answers.length < awaited) return;
      for (const status of answers) statuses[status] = (statuses[status] ?? 0) + 1;
      next();
    });
    await once(socket, 'close');
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return { statuses, milliseconds: performance.now() - began };
}

describe('A stalled reader of standard output', () => {
  const inFolder = folderForAll();
  let credential: string;
  let replica: ChildProcess | undefined;

  before(async () => {
    mkdirSync(inFolder('snapshots'));
    const output = inFolder('snapshots/sample.sqlite');
    await run('scripts/snapshot.ts', ['build', '--input', 'data/sample', '--output', output]);
    credential = newCredential(inFolder, ORGANIZATION);
  });

  afterEach(() => replica?.kill('SIGKILL'));

  for (const output of ['pipe', 'non-blocking pipe'] as const) {
    it(`costs only log lines, which are counted, on a ${output}`, async () => {
      const reader = StallingReader.start(output, 'src/main.ts', inFolder(output), {
        PORT: '0',
        ADMIN_PORT: '0',
        HOST: '127.0.0.1',
        SNAPSHOT_DIR: inFolder('snapshots'),
        KEYS_FILE: inFolder('keys.sqlite'),
        RATE_LIMIT_PER_MINUTE: '0',
      });
      replica = reader.process;
      const stderr = text(replica.stderr ?? expect.fail());
      const [, adminPort] = await reader.reads(/"port":(\d+),"msg":"listening for operators"/);
      const [, port] = await reader.reads(/"port":(\d+),"msg":"listening"/);
      await Promise.all([reader.reads(/"msg":"snapshot live"/), reader.reads(/"msg":"keys live"/)]);
      const allAnswered = { 200: REQUESTS };
      const floodReplica = () => flood(Number(port), credential);
      const dropped = async () => {
        const metrics = await fetch(`http://127.0.0.1:${adminPort}/metrics`);
        return Number(/^foyer_log_lines_dropped_total (\d+)$/m.exec(await metrics.text())?.[1]);
      };

      const read = await floodReplica();
      expect(read.statuses).to.deep.equal(allAnswered);
      expect(await dropped()).to.equal(0);

      await reader.stall();
      const stalled = await floodReplica();
      expect(stalled.statuses).to.deep.equal(allAnswered);
      expect(stalled.milliseconds).to.be.below(MAX_SLOWDOWN * read.milliseconds);
      const droppedLines = await dropped();
      expect(droppedLines).to.be.within(1, REQUESTS);

      reader.resume();
      const [, reported] = await reader.reads(/"lines":(\d+),"msg":"log lines dropped"/);
      expect(Number(reported)).to.equal(droppedLines);
      const lines = reader.text.trimEnd().split('\n');
      const requests = lines.filter((line) => (JSON.parse(line) as { msg: string }).msg === 'request');
      expect(requests).to.have.length(2 * REQUESTS - droppedLines);

      await reader.stall();
      expect((await floodReplica()).statuses).to.deep.equal(allAnswered);
      const signalled = performance.now();
      replica.kill('SIGTERM');
      expect(await once(replica, 'exit')).to.deep.equal([0, null]);
      expect(performance.now() - signalled).to.be.below(MAX_SHUTDOWN_MS);
      await reader.close();
      expect(await stderr).to.match(
        /^(cannot write the log; .* the reader of standard output has stalled\n)*$/,
      );
    });
  }
});
