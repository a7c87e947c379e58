import { expect } from 'chai';
import { pino } from 'pino';
import { RequestLog } from '../../src/http/request-log.ts';
import type { LoggedRequest } from '../../src/http/request-log.ts';

const FULL: LoggedRequest = {
  requestId: 'a-Z.9_',
  organizationId: 'an"or\\ganization',
  keyId: 'key_"\n',
  operation: 'listTickets',
  status: 200,
  durationMs: 0.125,
  rows: 25,
  bytes: 31_415,
  sent: true,
};

describe('The log of requests', () => {
  let lines: string[];
  const destination = { write: (line: string) => lines.push(line) };

  beforeEach(() => {
    lines = [];
  });

  const withoutTime = (line: string) => line.replace(/"time":\d{13}/, '"time":0');

  for (const [what, request, told] of [
    ['all that is known', FULL, FULL],
    [
      'a refusal',
      { ...FULL, organizationId: '', keyId: '', operation: undefined, rows: undefined, status: 403 },
      { requestId: FULL.requestId, status: 403, durationMs: 0.125, bytes: 31_415 },
    ],
    ['a response that was given up', { ...FULL, sent: false }, { ...FULL, sent: false }],
    ['a page of none', { ...FULL, rows: 0 }, { ...FULL, rows: 0 }],
  ] as const) {
    it(`has the line that pino would write: ${what}`, () => {
      const log = pino({ level: 'info' }, destination).child({ thread: 'a "child"' });
      new RequestLog(log, destination).write(request);
      log.info({ ...told, sent: request.sent ? undefined : false }, 'request');
      const [ours, pinos] = lines.map(withoutTime);
      expect(ours).to.equal(pinos);
      expect(ours).to.match(/\n$/);
    });
  }

  it('tells whose key it was, whoever had one of that id before', () => {
    const log = pino({ level: 'info' }, destination);
    const requestLog = new RequestLog(log, destination);
    const callers = ['north', 'south', 'north'].flatMap((organizationId) =>
      ['key', 'other', ''].map((keyId) => ({ organizationId, keyId })),
    );
    for (const caller of callers) requestLog.write({ ...FULL, ...caller });
    const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(told.map(({ organizationId, keyId = '' }) => ({ organizationId, keyId }))).to.deep.equal(callers);
  });

  it('tells the time of each', async () => {
    const log = pino({ level: 'info' }, destination);
    const requestLog = new RequestLog(log, destination);
    for (let i = 0; i < 3; i++) {
      const before = Date.now();
      requestLog.write(FULL);
      const { time } = JSON.parse(lines[i]) as { readonly time: number };
      expect(time).to.be.within(before, Date.now());
      while (Date.now() === before) await new Promise(setImmediate);
    }
  });

  it('says nothing when the level is above it', () => {
    const log = pino({ level: 'warn' }, destination);
    new RequestLog(log, destination).write(FULL);
    expect(lines).to.deep.equal([]);
  });
});
