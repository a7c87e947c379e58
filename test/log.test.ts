import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createLog } from '../src/log.ts';
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
    for (let n = 0; n < 100; n++) log.info('more');
    expect(written()).to.be.within(50, 100);
    flush();
    expect(written()).to.equal(101);
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

  it('leaves out what is below its level', () => {
    const path = inFolder('log');
    const { log, flush } = createLog('warn', path);
    log.info('unimportant');
    log.warn('important');
    flush();
    expect(readFileSync(path, 'utf8')).to.match(/^\{[^\n]*"important"\}\n$/);
  });
});
