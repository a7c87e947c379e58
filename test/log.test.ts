import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createLog } from '../src/log.ts';
import { LogOutput } from '../src/log-output.ts';
import { run } from './system/command.ts';
import { folderForEach } from './temporary-folder.ts';

const LINES = 2000;

describe('The log', () => {
  const inFolder = folderForEach();

  for (const [end, code] of [
    ['quietly', 0],
    ['exit', 3],
    ['error', 1],
  ] as const) {
    it(`has every line, whole and in order, of each thread when the process ends (${end})`, async () => {
      const ended = await run('test/write-log-lines.ts', [end, String(LINES)]);
      expect(ended.code, ended.stderr).to.equal(code);
      expect(ended.stdout).to.match(/\n$/);
      const lines = ended.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { thread: string; n: number });
      const numbers = (thread: string) => lines.filter((line) => line.thread === thread).map(({ n }) => n);
      const expected = Array.from({ length: LINES }, (_, n) => n);
      expect(numbers('other')).to.deep.equal(expected);
      expect(numbers('main')).to.deep.equal([...expected, LINES]);
    });
  }

  it('writes many lines at once, and those that wait when told to', () => {
    const path = inFolder('log');
    const { log, flush } = createLog('info', path);
    const written = () => readFileSync(path, 'utf8').split('\n').length - 1;
    log.info('first');
    expect(written()).to.equal(0);
    flush();
    expect(written()).to.equal(1);
    for (let n = 0; n < 1000; n++) log.info('more');
    expect(written()).to.be.within(500, 1000);
    flush();
    expect(written()).to.equal(1001);
  });

  it('does not keep a line back for long', async () => {
    const path = inFolder('log');
    const { log } = createLog('info', path);
    log.info('alone');
    const deadline = performance.now() + 5000;
    while (readFileSync(path, 'utf8') === '') {
      expect(performance.now()).to.be.lessThan(deadline);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  });

  it('holds nobody up when it cannot be written: its lines are dropped, which is said once', async () => {
    const ended = await run('test/write-log-lines.ts', ['quietly', '200', '/dev/full']);
    expect(ended.code, ended.stderr).to.equal(0);
    const said = ended.stderr.trimEnd().split('\n');
    expect(said).to.have.length(2);
    for (const line of said) expect(line).to.match(/^the log cannot be written, .* dropped: ENOSPC/);
  });

  it('goes on with whole lines when it can be written again', () => {
    const failure = (code: string) => Object.assign(new Error(code), { code });
    // What the system does with one write after the other: it takes some bytes, or none.
    const course = ['all', 4, failure('EAGAIN'), failure('ENOSPC'), failure('ENOSPC'), 'all'] as const;
    let step = 0;
    let text = '';
    const output = new LogOutput(-1, (_descriptor, bytes, from) => {
      const next = course[step++];
      if (next instanceof Error) throw next;
      const taken = next === 'all' ? bytes.length - from : next;
      text += bytes.toString('utf8', from, from + taken);
      return taken;
    });
    for (const line of ['first', 'torn apart', 'lost', 'last']) output.write(`${line}\n`);
    expect(text).to.equal('first\ntorn\nlast\n');
    expect(step).to.equal(course.length);
  });

  it('leaves out what is below its level', () => {
    const path = inFolder('log');
    const { log, flush } = createLog('warn', path);
    log.info('unimportant');
    log.warn('important');
    flush();
    expect(readFileSync(path, 'utf8')).to.match(/^\{[^\n]*"important"\}\n$/);
  });
});
