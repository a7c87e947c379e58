import { type ChildProcess, execFileSync, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { INHERITED, ROOT } from '../support/command.ts';
import { LineReader, READ_OUTPUTS, StallingReader } from '../support/stalling-reader.ts';
import { folderForEach } from '../support/temporary-folder.ts';
import type { WriterCommand, Written } from './write-log-lines.ts';

const SCRIPT = 'test/log/write-log-lines.ts';
/** More lines than the buffers of the ring, the process and the system hold. */
const FLOOD = 60_000;
/** Longest wait for a stalled reader; the exit of a process takes further time on a busy machine. */
const LONGEST_WAIT_MS = 200;
const EXIT_MS = LONGEST_WAIT_MS + 1500;
const IMMEDIATE_EXIT_MS = 500;
const READING = constants.O_RDONLY | constants.O_NONBLOCK;
const ON_STANDARD_ERROR = 'a line on standard error\n';

interface Line {
  readonly msg: string;
  readonly thread?: string;
  readonly n?: number;
  readonly lines?: number;
}

/** @throws if a line is incomplete */
function parseLines(log: string): Line[] {
  expect(log).to.match(/\n$/);
  const lines = log.trimEnd().split(/\r?\n/);
  return lines.map((line) => JSON.parse(line) as Line);
}

function numbersOf(lines: readonly Line[], thread: string): number[] {
  return lines.filter((line) => line.thread === thread).map(({ n }) => n ?? NaN);
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}

function start(stdio: StdioOptions, level = 'info'): ChildProcess {
  return spawn(process.execPath, [join(ROOT, SCRIPT), level], { cwd: ROOT, env: INHERITED, stdio });
}

/** Creates a named pipe and opens it for writing, after its reader has closed it. */
function pipeWithoutReader(path: string): number {
  execFileSync('mkfifo', [path]);
  const reading = openSync(path, READING);
  const writing = openSync(path, 'w');
  closeSync(reading);
  return writing;
}

/** Makes both threads write lines. */
async function write(writer: ChildProcess, count: number): Promise<Written> {
  writer.send({ write: count } satisfies WriterCommand);
  const [written] = (await once(writer, 'message')) as [Written];
  return written;
}

/** Ends the process. Returns its exit status, and the time until its exit. */
async function end(
  writer: ChildProcess,
  how: Extract<WriterCommand, { end: unknown }> = { end: 'orderly' },
): Promise<{ code: number; milliseconds: number }> {
  const started = performance.now();
  writer.send(how);
  const [code] = (await once(writer, 'exit')) as [number];
  return { code, milliseconds: performance.now() - started };
}

describe('The log', () => {
  const inFolder = folderForEach();
  let writer: ChildProcess;

  afterEach(() => writer.kill('SIGKILL'));

  for (const output of READ_OUTPUTS) {
    describe(`on a ${output}`, () => {
      let reader: StallingReader;

      beforeEach(() => {
        reader = StallingReader.start(output, SCRIPT, inFolder('pipe'));
        writer = reader.process;
      });

      it('contains every line of each thread, whole and in order, when the process ends', async () => {
        await write(writer, 5000);
        expect(await end(writer)).to.include({ code: 0 });
        await reader.ended;
        const lines = parseLines(reader.text);
        expect(numbersOf(lines, 'other')).to.deep.equal(upTo(5000));
        expect(numbersOf(lines, 'main')).to.deep.equal(upTo(100));
        expect(lines.at(-1)).to.include({ msg: 'last' });
      });

      it('drops and counts lines while the reader stalls, and then reports them between whole lines', async () => {
        await write(writer, 10);
        await reader.stall();
        const { dropped } = await write(writer, FLOOD);
        expect(dropped).to.be.within(FLOOD / 4, FLOOD);
        reader.resume();
        await reader.reads(/"msg":"log lines dropped"/);
        expect(await end(writer)).to.include({ code: 0 });
        await reader.ended;
        const lines = parseLines(reader.text.replace(/^the log cannot be written.*\n/m, ''));
        const reports = lines.filter(({ msg }) => msg === 'log lines dropped');
        expect(reports.map((line) => line.lines)).to.deep.equal([dropped]);
        const flood = numbersOf(lines, 'other').slice(10);
        expect(flood).to.have.length(FLOOD - dropped);
        expect(flood).to.deep.equal(flood.toSorted((a, b) => a - b));
        expect(numbersOf(lines, 'main')).to.deep.equal([...upTo(10), ...upTo(100)]);
      });

      it('delays the exit only briefly while the reader stalls', async () => {
        await write(writer, 10);
        await reader.stall();
        await write(writer, FLOOD);
        const { code, milliseconds } = await end(writer, { end: 'orderly', longestWaitMs: LONGEST_WAIT_MS });
        expect(code).to.equal(0);
        expect(milliseconds).to.be.below(EXIT_MS);
      });
    });
  }

  it('appends to a file that standard error shares', async () => {
    const path = inFolder('file');
    const file = openSync(path, 'w');
    writer = start(['ignore', file, file, 'ipc']);
    await write(writer, 5000);
    writer.send({ standardError: ON_STANDARD_ERROR } satisfies WriterCommand);
    await write(writer, 5000);
    expect(await end(writer)).to.include({ code: 0 });
    const written = readFileSync(path, 'utf8');
    expect(written).to.include(`\n${ON_STANDARD_ERROR}`);
    const lines = parseLines(written.replace(ON_STANDARD_ERROR, ''));
    expect(numbersOf(lines, 'other')).to.deep.equal([...upTo(5000), ...upTo(5000)]);
  });

  for (const [name, output] of [
    ['a file', () => openSync(inFolder('file'), 'w+')],
    ['a socket', () => 'pipe' as const],
  ] as const) {
    it(`contains every line before the error that ends the process, on ${name}`, async () => {
      const stdout = output();
      writer = start(['ignore', stdout, 'ignore', 'ipc']);
      const read = writer.stdout && text(writer.stdout);
      await write(writer, 50);
      expect(await end(writer, { end: 'error' })).to.include({ code: 1 });
      const lines = parseLines(await (read ?? readFileSync(inFolder('file'), 'utf8')));
      expect(numbersOf(lines, 'other')).to.deep.equal(upTo(50));
      expect(lines.map(({ msg }) => msg)).to.include('last');
    });
  }

  it('reports a stalled reader once on standard error when lines are dropped', async () => {
    const reader = StallingReader.start('socket', SCRIPT, '');
    writer = reader.process;
    const standardError = new LineReader(writer.stderr ?? expect.fail());
    await reader.stall();
    await write(writer, 10);
    await write(writer, FLOOD);
    await standardError.reads(/\n/);
    await end(writer);
    await standardError.ended;
    expect(standardError.text).to.equal(
      'cannot write the log; lines are dropped: the reader of standard output has stalled\n',
    );
  });

  for (const [name, output, error] of [
    ['a full device', () => openSync('/dev/full', 'w'), /ENOSPC/],
    ['a pipe without a reader', () => pipeWithoutReader(inFolder('pipe')), /EPIPE/],
  ] as const) {
    it(`drops and counts lines, reports it once on standard error, and ends immediately, on ${name}`, async () => {
      writer = start(['ignore', output(), 'pipe', 'ipc']);
      const standardError = text(writer.stderr ?? expect.fail());
      await write(writer, FLOOD);
      const { dropped } = await write(writer, FLOOD);
      expect(dropped).to.be.above(FLOOD);
      const { code, milliseconds } = await end(writer);
      expect(code).to.equal(0);
      expect(milliseconds).to.be.below(IMMEDIATE_EXIT_MS);
      expect(await standardError)
        .to.match(/^cannot write the log; lines are dropped: .*\n$/)
        .and.to.match(error);
    });
  }

  it('continues with whole lines when another reader opens a named pipe', async () => {
    const path = inFolder('pipe');
    const first = StallingReader.start('pipe', SCRIPT, path);
    writer = first.process;
    await write(writer, 10);
    await first.close();
    const { dropped } = await write(writer, FLOOD);
    const second = new LineReader(new Socket({ fd: openSync(path, READING), writable: false }));
    const [, reported] = await second.reads(/"lines":(\d+),"msg":"log lines dropped"/);
    expect(Number(reported)).to.equal(dropped);
    expect(await end(writer)).to.include({ code: 0 });
    await second.ended;
    expect(numbersOf(parseLines(second.text), 'other')).to.have.length(FLOOD - dropped);
  });

  it('is discarded when standard output is closed', async () => {
    const shell = spawn('sh', ['-c', 'exec "$0" "$1" >&-', process.execPath, join(ROOT, SCRIPT)], {
      env: INHERITED,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    writer = shell;
    const standardError = text(shell.stderr ?? expect.fail());
    expect(await write(writer, 1000)).to.deep.equal({ dropped: 0 });
    expect(await end(writer)).to.include({ code: 0 });
    expect(await standardError).to.equal('');
  });

  it('omits lines below its level', async () => {
    writer = start(['ignore', 'pipe', 'ignore', 'ipc'], 'warn');
    const read = text(writer.stdout ?? expect.fail());
    await write(writer, 10);
    await end(writer);
    expect(parseLines(await read).map(({ msg }) => msg)).to.deep.equal(['last but one', 'last']);
  });
});
