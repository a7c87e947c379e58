import { expect } from 'chai';
import fc from 'fast-check';
import { OPERATIONS } from '../../src/contract/operations.ts';
import {
  type HistogramTotals,
  PIN_OUTCOMES,
  REFUSAL_REASONS,
  type RequestRefusal,
  sumMetrics,
  RequestMetrics,
} from '../../src/counts/request-metrics.ts';
import { eventually } from '../support/eventually.ts';

const OPERATION_IDS = OPERATIONS.map(({ id }) => id);
/** Statuses with a counter of their own. */
const KNOWN = [200, 204, 302, 304, 400, 403, 404, 405, 408, 413, 429, 431, 500];
const VERSIONS: Readonly<Record<string, string>> = { stable: 'stable', preview: 'preview' };

const REASONS = Object.keys(REFUSAL_REASONS) as RequestRefusal[];

const seconds = fc.oneof(
  fc.double({ min: 0, max: 10, noNaN: true }),
  fc.constantFrom(0, 0.0001, 0.005, 0.05, 1, 5),
);
const request = fc.record({
  operation: fc.constantFrom(undefined, 'unheardOf', ...OPERATION_IDS),
  status: fc.oneof(fc.constantFrom(...KNOWN), fc.integer({ min: 100, max: 999 })),
  version: fc.constantFrom(undefined, 'stable', 'preview', '2026-10-01', '2027-01-31'),
  reason: fc.constantFrom(undefined, ...REASONS),
  pin: fc.constantFrom(undefined, ...PIN_OUTCOMES),
  seconds,
});
const event = fc.oneof(
  { weight: 5, arbitrary: fc.record({ request }) },
  fc.record({ refusal: fc.constantFrom(400, 405, 431, 418) }),
  fc.record({ delay: seconds }),
);
/** The events on each of some threads. */
const threads = fc.array(fc.array(event, { maxLength: 60 }), { maxLength: 4 });

class Counts extends Map<string, number> {
  add(name: string, amount = 1): void {
    this.set(name, (this.get(name) ?? 0) + amount);
  }

  /** Adds a value to its bucket of a histogram, and to the sum of the histogram. */
  observe(name: string, value: number, bounds: readonly number[]): void {
    this.add(`${name} ${bounds.find((bound) => value <= bound) ?? 'above'}`);
    this.add(`sum ${name}`, value);
  }

  addHistogram(name: string, { bounds, counts, sum }: HistogramTotals): void {
    for (const [i, count] of counts.entries()) this.add(`${name} ${bounds.at(i) ?? 'above'}`, count);
    this.add(`sum ${name}`, sum);
  }
}

describe('The request metrics', () => {
  it('count like a map of names, for any number of threads', () => {
    const { durations: none, delay } = sumMetrics([]);
    const durationBounds = none[0].totals.bounds;
    fc.assert(
      fc.property(threads, (happened) => {
        const expected = new Counts();
        const requestMetrics = happened.map((events) => {
          const metrics = new RequestMetrics();
          for (const each of events) {
            if ('request' in each) {
              const { operation, status, version, reason, pin, seconds: taken } = each.request;
              metrics.countRequest(each.request);
              const label = OPERATION_IDS.find((id) => id === operation) ?? 'other';
              const versionLabel = version === undefined ? 'none' : (VERSIONS[version] ?? 'upcoming');
              expected.add(`${label} ${KNOWN.includes(status) ? status : 'other'} ${versionLabel}`);
              for (const name of [reason, pin]) if (name !== undefined) expected.add(name);
              expected.observe(label, taken, durationBounds);
            } else if ('refusal' in each) {
              metrics.countRequest({ status: each.refusal });
              expected.add(`other ${each.refusal === 418 ? 'other' : each.refusal} none`);
            } else {
              metrics.observeDelay(each.delay);
              expected.observe('delay', each.delay, delay.bounds);
            }
          }
          return metrics;
        });

        const totals = sumMetrics(requestMetrics);
        const counted = new Counts([...totals.refusals, ...totals.pins]);
        for (const { operation, status, version, count } of totals.requests)
          counted.add(`${operation} ${status} ${version}`, count);
        for (const { operation, totals: histogram } of totals.durations)
          counted.addHistogram(operation, histogram);
        counted.addHistogram('delay', totals.delay);
        for (const [name, count] of expected) counted.add(name, -count);
        // The sums of histograms differ by the order of their additions.
        expect([...counted].filter(([, difference]) => Math.abs(difference) > 1e-9)).to.deep.equal([]);
      }),
      { numRuns: 500 },
    );
  });

  it('have the delay of the event loop, by a timer', async () => {
    const metrics = new RequestMetrics();
    metrics.sampleDelay();
    const end = performance.now() + 200;
    while (performance.now() < end);
    await eventually(() => sumMetrics([metrics]).delay.sum > 0.1);
  });

  it('have every operation, status, version and reason from the start', () => {
    const { requests, durations, refusals } = sumMetrics([]);
    const combinations = requests.map(
      ({ operation, status, version }) => `${operation} ${status} ${version}`,
    );
    expect(new Set(combinations).size).to.equal((OPERATION_IDS.length + 1) * (KNOWN.length + 1) * 4);
    expect(requests.every(({ count }) => count === 0)).to.equal(true);
    expect(durations.map(({ operation }) => operation)).to.deep.equal([...OPERATION_IDS, 'other']);
    expect([...refusals]).to.deep.equal(REASONS.map((reason) => [reason, 0]));
  });
});
