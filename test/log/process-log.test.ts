import { type ChildProcess, execFileSync, spawn, type StdioOptions } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, readFileSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import fc from 'fast-check';
import { INHERITED, ROOT } from '../support/command.ts';
import { byDepth } from '../support/depth.ts';
import { eventually } from '../support/eventually.ts';
import { LineReader, StallingReader } from '../support/stalling-reader.ts';
import { folderForEach } from '../support/temporary-folder.ts';
import {
  describeOutput,
  end,
  FLOOD,
  numbersOf,
  parseLines,
  SCRIPT,
  upTo,
  write,
} from '../support/log-writer.ts';
import type { WriterCommand } from '../support/write-log-lines.ts';

/** An exit that waits a second for the output, on a busy machine. */
const EXIT_MS = 10_000;
/** Lines that the ring has room for. */
const MOST = 8000;
/** Length of the shortest line. */
const MIN_LENGTH = 90;
/** Size limit of a file, in units of 512 bytes. */
const FILE_BLOCKS = 128;
const READING = constants.O_RDONLY | constants.O_NONBLOCK;
const ON_STANDARD_ERROR = 'a line on standard error\n';

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

describe('The log', () => {
  const inFolder = folderForEach();
  let writer: ChildProcess;

  afterEach(() => writer.kill('SIGKILL'));

  for (const output of ['pipe', 'non-blocking pipe', 'socket'] as const) describeOutput(output);

  it('appends to a file that standard error shares', async () => {
    const path = inFolder('file');
    const file = openSync(path, 'w');
    writer = start(['ignore', file, file, 'ipc']);
    await write(writer, 5000);
    writer.send({ standardError: ON_STANDARD_ERROR } satisfies WriterCommand);
    await write(writer, 5000);
    expect(await end(writer)).to.include({ code: 0 });
    const written = readFileSync(path, 'utf8');
    // Before the first line, or between two.
    expect(`\n${written}`).to.include(`\n${ON_STANDARD_ERROR}`);
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
    it(`drops and counts lines, reports it once on standard error, and ends soon, on ${name}`, async () => {
      writer = start(['ignore', output(), 'pipe', 'ipc']);
      const standardError = text(writer.stderr ?? expect.fail());
      await write(writer, FLOOD);
      const { dropped } = await write(writer, FLOOD);
      expect(dropped).to.be.above(FLOOD);
      const { code, milliseconds } = await end(writer, { end: 'orderly' });
      expect(code).to.equal(0);
      expect(milliseconds).to.be.below(EXIT_MS);
      expect(await standardError)
        .to.match(/^cannot write the log; lines are dropped: .*\n$/)
        .and.to.match(error);
    });
  }

  it('drops and counts lines while a file cannot grow, and continues when it can', async () => {
    const path = inFolder('file');
    const limited = ['-c', `ulimit -S -f ${FILE_BLOCKS}; exec "$0" "$1" >> "$2"`];
    writer = spawn('sh', [...limited, process.execPath, join(ROOT, SCRIPT), path], {
      env: INHERITED,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const standardError = text(writer.stderr ?? expect.fail());
    const { dropped } = await write(writer, FLOOD);
    expect(dropped).to.be.within(1, FLOOD);
    expect(statSync(path).size).to.equal(FILE_BLOCKS * 512);
    execFileSync('prlimit', ['--pid', String(writer.pid), '--fsize=unlimited:unlimited']);
    await eventually(() =>
      readFileSync(path, 'utf8').includes(`"lines":${dropped},"msg":"log lines dropped"`),
    );
    await end(writer);
    const written = parseLines(readFileSync(path, 'utf8')).filter(({ msg }) => msg === 'line');
    expect(written).to.have.length(FLOOD + 100 - dropped);
    // Node reports that it cannot write coverage either.
    const reports = (await standardError).match(/^cannot write the log; lines are dropped: EFBIG/gm);
    expect(reports).to.have.length(1);
  });

  it('counts each line on a pipe without a reader, from the first on', async () => {
    writer = start(['ignore', pipeWithoutReader(inFolder('pipe')), 'ignore', 'ipc']);
    for (const made of [2, 4]) {
      await write(writer, 1);
      await eventually(async () => (await write(writer, 0)).dropped === made);
    }
  });

  it('has or counts each line of a named pipe whose reader closes at any time, and reports to the next one', () =>
    fc.assert(
      fc.asyncProperty(fc.nat(MOST), fc.nat(MOST), fc.nat(MOST), async (before, after, readLines) => {
        let made = 0;
        const make = (count: number) => {
          made += count + Math.min(count, 100);
          return write(writer, count);
        };
        const path = inFolder(randomUUID());
        const first = StallingReader.start('pipe', SCRIPT, path);
        writer = first.process;
        const writing = make(before);
        await eventually(() => first.text.length >= Math.min(readLines, before) * MIN_LENGTH);
        await Promise.all([first.close(), writing]);
        await make(after);
        await eventually(async () => (await make(1)).dropped > 0);
        const second = new LineReader(new Socket({ fd: openSync(path, READING), writable: false }));
        const { dropped } = await make(1);
        const [, reported] = await second.reads(/"lines":(\d+),"msg":"log lines dropped"/);
        expect(Number(reported)).to.equal(dropped);
        await end(writer);
        await second.ended;
        const written = parseLines(first.text + second.text).filter(({ msg }) => msg === 'line');
        expect(written.length + dropped).to.equal(made);
      }),
      { numRuns: byDepth({ short: 5, deep: 100 }), endOnFailure: true },
    ));

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

  it('has the name of its level and the time in each line, and omits lines below its level', async () => {
    writer = start(['ignore', 'pipe', 'ignore', 'ipc'], 'warn');
    const read = text(writer.stdout ?? expect.fail());
    await write(writer, 10);
    await end(writer);
    const lines = parseLines(await read);
    expect(lines.map(({ level, msg }) => [level, msg])).to.deep.equal([
      ['warn', 'last but one'],
      ['warn', 'last'],
    ]);
    for (const { time } of lines) expect(new Date(time).toISOString()).to.equal(time);
  });
});
