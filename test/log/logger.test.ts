import { mock } from 'node:test';
import { expect } from 'chai';
import fc from 'fast-check';
import { readableLog } from '../support/readable-log.ts';

describe('A line of the log', () => {
  afterEach(() => {
    mock.restoreAll();
  });

  it('has the time in ISO 8601 with milliseconds, wherever the clock moves', () => {
    const { log, lines } = readableLog();
    let time: number;
    mock.method(Date, 'now', () => time);
    const move = fc.oneof(fc.integer({ min: -1100, max: 1100 }), fc.integer({ min: -1e11, max: 1e11 }));
    fc.assert(
      fc.property(fc.array(move), (moves) => {
        time = Date.parse('2026-01-31T19:00:00.123Z');
        for (const by of [0, ...moves]) {
          time += by;
          log.info('moved');
          expect(lines.pop()).to.include({ time: new Date(time).toISOString(), msg: 'moved' });
        }
      }),
    );
  });

  it('has the name of its level', () => {
    const { log, lines } = readableLog();
    log.info('a');
    log.warn('b');
    log.error('c');
    expect(lines.map(({ level }) => level)).to.deep.equal(['info', 'warn', 'error']);
  });
});
