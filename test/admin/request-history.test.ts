import { mock } from 'node:test';
import { expect } from 'chai';
import fc from 'fast-check';
import { percentileOf, startRequestHistory } from '../../src/admin/request-history.ts';
import { type AnsweredRequest, DURATION_BOUNDS, RequestMetrics } from '../../src/counts/request-metrics.ts';
import { FIXED } from '../support/random.ts';

const NOW = Date.parse('2026-11-21T18:00:00Z');
const PERCENTILES = { p50: 0.5, p95: 0.95, p99: 0.99 };

const request: fc.Arbitrary<Request> = fc.record({
  worker: fc.nat({ max: 1 }),
  operation: fc.constantFrom(undefined, 'listTickets', 'getOrder'),
  status: fc.constantFrom(200, 204, 304, 400, 404, 429, 431, 500, 999),
  seconds: fc.option(fc.double({ min: 0, max: 8, noNaN: true }), { nil: undefined }),
});
type Request = Pick<AnsweredRequest, 'operation' | 'status' | 'seconds'> & { readonly worker: number };

/** Requests between two samples, and the time between them. */
const interval = fc.record({
  requests: fc.array(request, { maxLength: 30 }),
  milliseconds: fc.integer({ min: 1, max: 60_000 }),
});

/** Milliseconds of the clock. */
let time = 5000;

/** Starts a history of two workers. A request before it does not count. */
function startHistory() {
  const workers = [new RequestMetrics(), new RequestMetrics()];
  workers[0].countRequest({ status: 400 });
  mock.timers.reset();
  mock.timers.enable({ apis: ['setInterval'] });
  const history = startRequestHistory({ requestMetrics: workers });
  return {
    workers,
    answer: ({ worker, ...answered }: Request) => {
      workers[worker].countRequest(answered);
    },
    sampleAfter: (milliseconds: number) => {
      time += milliseconds;
      mock.timers.tick(10_000);
    },
    intervals: () => history(NOW),
  };
}

describe('The history of requests', () => {
  before(() => {
    mock.method(performance, 'now', () => time);
  });

  after(() => {
    mock.timers.reset();
    mock.restoreAll();
  });

  const bucketOf = (value: number) => {
    const bucket = DURATION_BOUNDS.findIndex((bound) => value <= bound);
    // A percentile above all bounds counts as the highest one.
    return bucket < 0 ? DURATION_BOUNDS.length - 1 : bucket;
  };

  it('counts the requests of each interval, and finds each percentile in its bucket', () => {
    fc.assert(
      fc.property(fc.array(interval, { maxLength: 8 }), (happened) => {
        const { answer, sampleAfter, intervals } = startHistory();
        for (const { requests, milliseconds } of happened) {
          requests.forEach(answer);
          sampleAfter(milliseconds);
        }
        const found = intervals();
        expect(found).to.have.length(happened.length);
        let until = NOW;
        for (const { requests, milliseconds } of happened.toReversed()) {
          const one = found.pop();
          if (one === undefined) throw new Error('unreachable');
          const count = (isCounted: (status: number) => boolean) =>
            requests.filter(({ status }) => isCounted(status)).length;
          expect(one).to.deep.include({
            until: until / 1000,
            seconds: milliseconds / 1000,
            requests: requests.length,
            tooManyRequests: count((status) => status === 429),
            clientErrors: count((status) => status >= 400 && status < 500 && status !== 429),
            serverErrors: count((status) => status === 500),
          });
          const durations = requests.flatMap(({ seconds }) => seconds ?? []).sort((a, b) => a - b);
          for (const [name, share] of Object.entries(PERCENTILES)) {
            const estimate = one[name as keyof typeof PERCENTILES];
            const exact = durations.at(Math.ceil(share * durations.length) - 1);
            if (exact === undefined || estimate === null) expect(estimate).to.equal(exact ?? null);
            else expect(bucketOf(estimate)).to.equal(bucketOf(exact));
          }
          until -= milliseconds;
        }
      }),
      FIXED,
    );
  });

  it('holds the last hour', () => {
    const { answer, sampleAfter, intervals } = startHistory();
    for (let i = 0; i < 400; i++) {
      for (let j = 0; j < i % 7; j++) answer({ worker: 0, operation: undefined, status: 200, seconds: 0.01 });
      sampleAfter(10_000);
    }
    const held = intervals();
    expect(held).to.have.length(360);
    expect(held.map(({ requests }) => requests)).to.deep.equal(
      Array.from({ length: 360 }, (_, i) => (i + 40) % 7),
    );
    expect(held[359].until - held[0].until).to.equal(3590);
  });
});

describe('A percentile', () => {
  it('is interpolated within its bucket, as Prometheus does', () => {
    expect(percentileOf([0, 10, 0], [1, 3], 0.5)).to.equal(2);
    expect(percentileOf([4, 4, 0], [1, 3], 0.5)).to.equal(1);
    expect(percentileOf([4, 4, 0], [1, 3], 0.75)).to.equal(2);
    expect(percentileOf([0, 0, 5], [1, 3], 0.5)).to.equal(3);
    expect(percentileOf([0, 0, 0], [1, 3], 0.5)).to.equal(null);
  });
});
