import { expect } from 'chai';
import { summaryOf } from '../../../src/admin/status.ts';
import { concernsOf } from '../../../src/pages/status/overview.js';
import { CHARTS, dataOf, minutesOf, peakText, totalsOf } from '../../../src/pages/status/traffic.js';
import type { Interval } from '../../../src/pages/status/types.d.ts';
import type { RequestInterval } from '../../../src/admin/request-history.ts';
import { FEED, operationsForEach } from '../../support/admin-operations.ts';
import { emptySnapshot } from '../../support/empty-image.ts';

const QUIET: RequestInterval = {
  until: 1_795_284_010,
  seconds: 10,
  requests: 0,
  tooManyRequests: 0,
  clientErrors: 0,
  serverErrors: 0,
  p50: null,
  p95: null,
  p99: null,
};

const intervals: readonly Interval[] = [
  { ...QUIET, requests: 100, clientErrors: 5, p50: 0.001, p95: 0.002, p99: 0.004 },
  {
    ...QUIET,
    until: QUIET.until + 10,
    seconds: 20,
    requests: 400,
    serverErrors: 1,
    p50: 0.002,
    p95: 0.003,
    p99: 0.003,
  },
  { ...QUIET, until: QUIET.until + 60, tooManyRequests: 2, requests: 2 },
];

describe('The figures of the status page', () => {
  it('are rates of each interval over its own length, and percentiles with gaps', () => {
    const [requests, durations, errors] = CHARTS.map((chart) => dataOf(chart, intervals));
    const times = intervals.map(({ until }) => until);
    expect(requests).to.deep.equal([times, [10, 20, 0.2]]);
    expect(durations).to.deep.equal([
      times,
      [0.001, 0.002, null],
      [0.002, 0.003, null],
      [0.004, 0.003, null],
    ]);
    expect(errors).to.deep.equal([times, [0.5, 0, 0], [0, 0, 0.2], [0, 0.05, 0]]);
  });

  it('have totals, and by minute the sums and the highest percentiles, latest first', () => {
    const totals = { requests: 502, clientErrors: 5, tooManyRequests: 2, serverErrors: 1 };
    expect(totalsOf(intervals)).to.deep.equal(totals);
    const minutes = minutesOf(intervals);
    expect(minutes).to.have.length(2);
    expect(minutes[1]).to.deep.include({ seconds: 30, requests: 500, p50: 0.002, p99: 0.004 });
    expect(minutes[0]).to.deep.include({ requests: 2, tooManyRequests: 2, p99: null });
    expect(totalsOf(minutes)).to.deep.equal(totals);
    expect(minutes[0].until % 60).to.equal(0);
  });

  it('name the highest value of a chart with its time', () => {
    const text = peakText(intervals, ({ p99 }) => p99, String);
    expect(text).to.match(/^0\.004 at \d\d:\d\d:\d\d$/);
    expect(peakText([QUIET], ({ requests }) => requests, String)).to.equal('none');
  });
});

describe('The concerns of the status page', () => {
  const operations = operationsForEach();
  const concerns = () => concernsOf(summaryOf(operations)).map(({ text }) => text);

  it('name keys without data, refused and removed files, feeds, data ahead of the clock, faults of folder and keys file, threads and lost log lines', () => {
    expect(concerns()).to.deep.equal(['1 valid key has no data.']);
    const refused = {
      outcome: 'refused',
      reason: 'wal',
      detail: 'why',
      startedAt: '',
      durationMs: 1,
    } as const;
    for (const file of ['a.sqlite', 'b.sqlite']) operations.history.add({ file, ...refused });
    const producedAt = new Date(operations.clock() + 86_400_000).toISOString();
    operations.stores.swap('ahead.sqlite', { ...emptySnapshot('s2', 'ahead'), producedAt });
    operations.stores.markFileRemoved('ahead.sqlite');
    operations.feeds.current = [{ ...FEED, complaint: 'cut', pausedAt: producedAt, heldBackCount: 1 }];
    operations.snapshots.complaint = 'gone';
    operations.keys.complaint = 'damaged';
    operations.keys.warning = 'exposed';
    operations.workers.listening = 0;
    operations.log.droppedLines = 3;
    expect(concerns()).to.deep.equal([
      'The snapshot folder cannot be read.',
      '2 snapshot files were refused.',
      'A file is gone: a restart would be an outage.',
      'A feed failed.',
      'A feed is paused.',
      'Organizations are held back.',
      'A snapshot is ahead of the clock.',
      'The keys file cannot be used.',
      'Other users can write to the keys file.',
      '1 valid key has no data.',
      'A thread is missing.',
      'Log lines were dropped.',
    ]);
  });
});
