import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { expect } from 'chai';
import type { Request, RequestHandler, Response } from 'express';
import { newHitCounts } from '../../../src/counts/hit-counts.ts';
import { newOpenCounts, OpenCounts, STREAMS } from '../../../src/counts/open-counts.ts';
import { addressLimit, countStream, keyLimit } from '../../../src/http/checks/limits.ts';
import { Problem } from '../../../src/http/response/problem.ts';
import { thrownBy } from '../../support/refusal.ts';

const DAY_MS = 86_400_000;

describe('The limit of a key', () => {
  const realNow = Date.now;
  const limitOfTwo = (clock?: () => number) => keyLimit(2, newHitCounts(4), clock);

  afterEach(() => {
    Date.now = realNow;
  });

  it('rounds the seconds until the end of the window up', () => {
    let now = 0;
    const count = limitOfTwo(() => now);
    const headers: string[] = [];
    const countAt = (time: number) => {
      now = time;
      count(0, headers);
      return headers.at(-1);
    };
    expect(countAt(0)).to.equal('"2-in-1min"; r=1; t=60');
    expect(countAt(58_999.5)).to.equal('"2-in-1min"; r=0; t=2');
    expect(thrownBy(() => countAt(59_999.9), Problem).headers).to.deep.equal(['Retry-After', '1']);
    expect(headers.at(-1)).to.equal('"2-in-1min"; r=0; t=1');
    expect(countAt(60_000)).to.equal('"2-in-1min"; r=1; t=60');
  });

  it('does not depend on the wall clock', () => {
    const count = limitOfTwo();
    count(0, []);
    count(0, []);
    for (const moved of [-DAY_MS, DAY_MS]) {
      Date.now = () => realNow() + moved;
      const { headers } = thrownBy(() => {
        count(0, []);
      }, Problem);
      expect(Number(headers.at(-1))).to.be.within(50, 60);
    }
  });
});

describe('The counts of addresses', () => {
  const realNow = Date.now;
  let limit: RequestHandler;
  const hits = async (ip: string) => {
    const request = { ip, rateLimit: { used: 0 } };
    await limit(request as unknown as Request, {} as unknown as Response, () => undefined);
    return request.rateLimit.used;
  };

  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval'] });
    limit = addressLimit(1000);
  });
  afterEach(() => {
    mock.timers.reset();
    Date.now = realNow;
  });

  it('begin again after a minute, whatever the wall clock says', async () => {
    expect([await hits('192.0.2.1'), await hits('192.0.2.1'), await hits('192.0.2.2')]).to.deep.equal([
      1, 2, 1,
    ]);
    Date.now = () => realNow() - DAY_MS;
    mock.timers.tick(59_999);
    expect(await hits('192.0.2.1')).to.equal(3);
    mock.timers.tick(1);
    expect(await hits('192.0.2.1')).to.equal(1);
  });

  it('begin again when there are 100,000', async () => {
    for (let i = 0; i < 100_000; i++) await hits(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
    expect(await hits('10.0.0.0')).to.equal(1);
    expect(await hits('10.0.0.0')).to.equal(2);
  });
});

describe('The limit of open streams', () => {
  const [slot, other] = [100, 101];
  const counts = new OpenCounts(newOpenCounts());
  const open = (slotOfKey: number) => {
    const response = new EventEmitter();
    countStream(counts, response, slotOfKey);
    return response;
  };

  it('is two for each key, until one of them is closed', () => {
    const [first] = [open(slot), open(slot), open(other)];
    for (let i = 0; i < 2; i++) {
      expect(() => open(slot))
        .to.throw(Problem, 'already has 2 open streams')
        .with.nested.property('reason', 'streams');
    }
    expect(counts.inAll(STREAMS)).to.equal(3);
    first.emit('close');
    expect(counts.inAll(STREAMS)).to.equal(2);
    open(slot);
    expect(() => open(slot)).to.throw(Problem);
  });
});
