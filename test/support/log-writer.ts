import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { type ReadOutput, StallingReader } from './stalling-reader.ts';
import { folderForEach } from './temporary-folder.ts';
import type { WriterCommand, Written } from './write-log-lines.ts';

export const SCRIPT = 'test/support/write-log-lines.ts';
/** More lines than the buffers of the ring, the process and the system hold. */
export const FLOOD = 60_000;
/** Longest wait for a stalled reader; the exit of a process takes further time on a busy machine. */
const LONGEST_WAIT_MS = 200;
const EXIT_MS = LONGEST_WAIT_MS + 10_000;

interface Line {
  readonly level: string;
  /** ISO 8601. */
  readonly time: string;
  readonly msg: string;
  readonly thread?: string;
  readonly n?: number;
  readonly lines?: number;
}

/** @throws if a line is incomplete */
export function parseLines(log: string): Line[] {
  expect(log).to.match(/\n$/);
  const lines = log.trimEnd().split(/\r?\n/);
  return lines.map((line) => JSON.parse(line) as Line);
}

export function numbersOf(lines: readonly Line[], thread: string): number[] {
  return lines.filter((line) => line.thread === thread).map(({ n }) => n ?? NaN);
}

export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}

/** Makes both threads write lines. */
export async function write(writer: ChildProcess, count: number): Promise<Written> {
  writer.send({ write: count } satisfies WriterCommand);
  const [written] = (await once(writer, 'message')) as [Written];
  return written;
}

/** Ends the process. Returns its exit status, and the time until its exit. */
export async function end(
  writer: ChildProcess,
  how: Extract<WriterCommand, { end: unknown }> = { end: 'orderly' },
): Promise<{ code: number; milliseconds: number }> {
  const started = performance.now();
  writer.send(how);
  const [code] = (await once(writer, 'exit')) as [number];
  return { code, milliseconds: performance.now() - started };
}

/** Declares the tests of an output whose reader may stall. */
export function describeOutput(output: ReadOutput): void {
  describe(`on a ${output}`, () => {
    const inFolder = folderForEach();
    let writer: ChildProcess;
    let reader: StallingReader;

    beforeEach(() => {
      reader = StallingReader.start(output, SCRIPT, inFolder('pipe'));
      writer = reader.process;
    });

    afterEach(() => writer.kill('SIGKILL'));

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
      const lines = parseLines(reader.text.replaceAll(/^cannot write the log.*\r?\n/gm, ''));
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
