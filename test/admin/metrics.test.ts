import { expect } from 'chai';
import { PULL_METRICS } from '../../scripts/reference/alerts.ts';
import { METRICS, metricsText } from '../../src/admin/prometheus.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { RequestMetrics } from '../../src/counts/request-metrics.ts';
import { REFUSALS } from '../../src/snapshot/format/refused-snapshot.ts';
import { PRODUCED_AT } from '../support/api-fixture.ts';
import { emptyImage, WALKED } from '../support/empty-image.ts';
import {
  emptyOperations,
  FEED,
  MEMORY_LIMIT_BYTES,
  RETAINABLE_BYTES,
  NOW,
  operationsForEach,
  snapshotOf,
} from '../support/admin-operations.ts';
import { noteUse } from '../../src/store/organization-image.ts';

const ANSWERED = { operation: 'listOrders', status: 200, version: 'stable', seconds: 0.003 };
/** A load of a snapshot, without its outcome. */
const LOAD = { file: 'a.sqlite', startedAt: new Date(NOW).toISOString(), durationMs: 1 };

/** Returns the declared metrics in the form of a match: text, name, help and type. */
const declared = (metrics: typeof PULL_METRICS) =>
  Object.entries(metrics).map(([name, { help, type }]) => ['', name, help, type]);

describe('The metrics', () => {
  const operations = operationsForEach();
  /** Returns the values of all samples, by name and labels such as `name{label="value"}`, which are those declared. */
  const scrape = async () => {
    const lines = (await metricsText(operations)).match(/^[^#\n].*$/gm) ?? [];
    const samples = new Map(lines.map((line) => [line.replace(/ \S+$/, ''), Number(line.split(' ').at(-1))]));
    expect(samples.size, 'without repeated samples').to.equal(lines.length);
    for (const sample of samples.keys()) {
      const [, name, labels = ''] = /^(foyer_\w+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})?$/.exec(sample) ?? [];
      const names = labels.replace(/\ble=".*?",?/, '').match(/\w+(?==")/g) ?? [];
      if (name in METRICS) expect(names, sample).to.deep.equal(METRICS[name].labels);
    }
    return samples;
  };
  const samplesOf = async (name: string) =>
    Object.fromEntries([...(await scrape())].filter(([key]) => key.startsWith(name)));
  /** Returns the samples of a metric whose value is not 0. */
  const countsOf = async (name: string) =>
    Object.fromEntries(Object.entries(await samplesOf(name)).filter(([, value]) => value !== 0));

  /** Returns the values of metrics without labels. */
  const valuesOf = async (...names: string[]) => {
    const samples = await scrape();
    return names.map((name) => samples.get(`foyer_${name}`));
  };

  it('follow the naming conventions of Prometheus', async () => {
    const text = await metricsText(operations);
    const own = [...text.matchAll(/^# HELP (foyer_\w+) (.*)\n# TYPE \1 (\w+)$/gm)];
    expect(own.map(([, name]) => name)).to.deep.equal(Object.keys(METRICS));
    for (const [, name, help, type] of [...own, ...declared(PULL_METRICS)]) {
      expect(name.endsWith('_total'), name).to.equal(type === 'counter');
      expect(name.endsWith('_info'), name).to.equal(help.startsWith('1; '));
      expect(help).to.match(/^[A-Z1].*\.$/);
      expect(name).not.to.match(/_(ms|milliseconds|kb|mb|percent|age|held(?!_back))(_|$)/);
      if (/seconds|bytes|total|info/.test(name)) expect(name).to.match(/_(seconds|bytes|total|info)$/);
    }
  });

  it('exist from the start, the counters at 0, except those of files', async () => {
    Object.assign(operations, emptyOperations());
    const samples = [...(await scrape())];
    for (const [name, { type, labels }] of Object.entries(METRICS)) {
      const own = samples.filter(([key]) => key.replace(/(_bucket|_sum|_count)?(\{.*)?$/, '') === name);
      expect(own.length > 0, name).to.equal(!labels.includes('file'));
      if (type === 'counter') expect(Math.max(...own.map(([, value]) => value)), name).to.equal(0);
    }
  });

  it('have the versions of the process', async () => {
    const labels = `version="${packageJson.version}",node="${process.version}",snapshot_format="5"`;
    expect(await samplesOf('foyer_build_info')).to.deep.equal({ [`foyer_build_info{${labels}}`]: 1 });
  });

  it('count requests by their labels, links by outcome, and refusals by reason, for all workers together', async () => {
    const second = new RequestMetrics();
    operations.workers = { ...operations.workers, requestMetrics: [operations.metrics, second] };
    for (const more of [{ pin: 'retained' }, { version: 'preview' }, { version: '2026-10-01' }] as const)
      operations.metrics.countRequest({ ...ANSWERED, ...more });
    second.countRequest({ ...ANSWERED, pin: 'retained' });
    second.countRequest({ status: 429, reason: 'overload' });
    const total = 'foyer_requests_total';
    expect(await countsOf(total)).to.deep.equal({
      [`${total}{operation="listOrders",status="200",version="stable"}`]: 2,
      [`${total}{operation="listOrders",status="200",version="preview"}`]: 1,
      [`${total}{operation="listOrders",status="200",version="upcoming"}`]: 1,
      [`${total}{operation="other",status="429",version="none"}`]: 1,
    });
    expect(await countsOf('foyer_pinned_requests_total')).to.deep.equal({
      'foyer_pinned_requests_total{outcome="retained"}': 2,
    });
    expect(await countsOf('foyer_requests_refused_total')).to.deep.equal({
      'foyer_requests_refused_total{reason="overload"}': 1,
    });
  });

  it('have histograms with cumulative buckets', async () => {
    const observed = [0.00005, 0.0004, 0.003, 0.003, 0.2, 2, 20];
    for (const seconds of observed) {
      operations.metrics.countRequest({ ...ANSWERED, seconds });
      operations.metrics.observeDelay(seconds);
    }
    for (const [name, labels] of [
      ['foyer_request_duration_seconds', 'operation="listOrders"'],
      ['foyer_event_loop_delay_seconds', ''],
    ]) {
      const samples = [...(await scrape())].filter(([key]) => key.startsWith(name) && key.includes(labels));
      const buckets = samples.flatMap(([key, count]) => {
        const le = /le="(.*?)"/.exec(key);
        return le === null ? [] : [{ bound: Number(le[1].replace('+Inf', 'Infinity')), count }];
      });
      const bounds = buckets.map(({ bound }) => bound);
      expect(bounds).to.deep.equal(bounds.toSorted((a, b) => a - b));
      expect(bounds.at(-1)).to.equal(Infinity);
      for (const { bound, count } of buckets)
        expect(count).to.equal(observed.filter((seconds) => seconds <= bound).length);
      const valueOf = (suffix: string) => samples.find(([key]) => key.startsWith(name + suffix))?.[1];
      expect(valueOf('_count')).to.equal(observed.length);
      expect(valueOf('_sum')).to.be.closeTo(22.20645, 1e-9);
    }
  });

  it('report the live snapshot of each file', async () => {
    const file = 'odd "name"\\.sqlite';
    operations.stores.swap(file, snapshotOf('s2', new Date(NOW + 1000).toISOString(), emptyImage('odd')));
    const [main, odd] = ['file="main.sqlite"', String.raw`file="odd \"name\"\\.sqlite"`];
    const rows = Object.entries({ events: 7, sessions: 9, tickets: 58, orders: 4, offers: 5 });
    const ofMain = rows.map(([name, count]) => [`foyer_snapshot_rows{${main},collection="${name}"}`, count]);
    expect(await samplesOf('foyer_snapshot_rows')).to.include({
      ...Object.fromEntries(ofMain),
      [`foyer_snapshot_rows{${odd},collection="offers"}`]: 0,
    });
    expect(await samplesOf('foyer_snapshot_organizations')).to.deep.equal({
      [`foyer_snapshot_organizations{${main}}`]: 3,
      [`foyer_snapshot_organizations{${odd}}`]: 1,
    });
    expect(await samplesOf('foyer_snapshot_produced_timestamp_seconds')).to.deep.equal({
      [`foyer_snapshot_produced_timestamp_seconds{${main}}`]: NOW / 1000 - 7200,
      [`foyer_snapshot_produced_timestamp_seconds{${odd}}`]: NOW / 1000 + 1,
    });
  });

  it('report the snapshots that are ahead of the clock', async () => {
    const minutesAhead = (minutes: number) => new Date(NOW + minutes * 60_000).toISOString();
    operations.stores.swap('near.sqlite', snapshotOf('s1', minutesAhead(5), emptyImage('near')));
    operations.stores.swap('far.sqlite', snapshotOf('s2', minutesAhead(6), emptyImage('far')));
    expect(await samplesOf('foyer_snapshot_ahead_of_clock')).to.deep.equal({
      'foyer_snapshot_ahead_of_clock{file="main.sqlite"}': 0,
      'foyer_snapshot_ahead_of_clock{file="near.sqlite"}': 0,
      'foyer_snapshot_ahead_of_clock{file="far.sqlite"}': 1,
    });
  });

  it('report the time of the next load of a refused file, if it is tried again', async () => {
    const load = { ...LOAD, outcome: 'refused', detail: '' } as const;
    const nextTryAt = new Date(NOW + 5000).toISOString();
    operations.history.add({ ...load, file: 'slow.sqlite', reason: 'timeout', nextTryAt });
    operations.history.add({ ...load, file: 'bad.sqlite', reason: 'damaged' });
    expect(await samplesOf('foyer_snapshot_next_try_timestamp_seconds')).to.deep.equal({
      'foyer_snapshot_next_try_timestamp_seconds{file="slow.sqlite"}': NOW / 1000 + 5,
    });
  });

  it('report the memory of live and of retained data', async () => {
    const { stores } = operations;
    const retained = stores.live.get('north')?.store;
    if (retained === undefined) throw new Error('north is not live');
    noteUse(retained.lists.tickets, 1);
    stores.swap('main.sqlite', snapshotOf('s2', new Date(NOW).toISOString(), emptyImage('north')));
    stores.releaseExpired(WALKED);
    expect(retained.lists.tickets.bytesHeld).to.be.greaterThan(10_000);
    expect(await samplesOf('foyer_store_bytes')).to.deep.equal({
      'foyer_store_bytes{state="live"}': stores.liveBytes,
      'foyer_store_bytes{state="retained"}': retained.lists.tickets.bytesHeld,
    });
    expect(await valuesOf('retention_limit_bytes', 'memory_limit_bytes')).to.deep.equal([
      RETAINABLE_BYTES,
      MEMORY_LIMIT_BYTES,
    ]);
  });

  it('count loads, and refusals by reason, with 0 for each other reason', async () => {
    const { history } = operations;
    history.add({ ...LOAD, outcome: 'refused', reason: 'older', detail: '' });
    history.add({ ...LOAD, outcome: 'refused', reason: 'older', detail: '' });
    history.add({ ...LOAD, file: 'b.sqlite', outcome: 'refused', reason: 'damaged', detail: '' });
    const refusals = await samplesOf('foyer_snapshot_refusals_total');
    expect(Object.keys(refusals)).to.deep.equal(
      Object.keys(REFUSALS).map((reason) => `foyer_snapshot_refusals_total{reason="${reason}"}`),
    );
    expect(refusals).to.include({
      'foyer_snapshot_refusals_total{reason="older"}': 2,
      'foyer_snapshot_refusals_total{reason="damaged"}': 1,
      'foyer_snapshot_refusals_total{reason="memory"}': 0,
    });
    expect(await valuesOf('snapshot_files_refused', 'snapshot_loads_total')).to.deep.equal([2, 0]);
  });

  it('report the live snapshots whose file is gone', async () => {
    operations.stores.swap('b.sqlite', snapshotOf('s2', new Date(NOW).toISOString(), emptyImage('b')));
    operations.stores.markFileRemoved('b.sqlite');
    expect(await samplesOf('foyer_snapshot_file_missing')).to.deep.equal({
      'foyer_snapshot_file_missing{file="main.sqlite"}': 0,
      'foyer_snapshot_file_missing{file="b.sqlite"}': 1,
    });
  });

  it('report the feeds', async () => {
    const [time, later] = [Date.parse(PRODUCED_AT) / 1000, '2026-11-28T09:13:00Z'];
    operations.feeds.current = [
      FEED,
      { ...FEED, file: 'a.sqlite', failedAt: later, failure: '', heldBackCount: 1001 },
      { ...FEED, file: 'b.sqlite', complaint: 'b.feed.json cannot be read', pausedAt: later },
      { ...FEED, file: 'c.sqlite', publishedAt: null, startedAt: later },
    ];
    const valuesByFile = async (name: string) => Object.values(await samplesOf(`foyer_feed_${name}{`));
    expect(await valuesByFile('failed')).to.deep.equal([0, 1, 1, 0]);
    const published = [time, time, time, Date.parse(later) / 1000];
    expect(await valuesByFile('published_timestamp_seconds')).to.deep.equal(published);
    expect(await valuesByFile('paused')).to.deep.equal([0, 0, 1, 0]);
    expect(await valuesByFile('organizations_held_back')).to.deep.equal([0, 1001, 0, 0]);
  });

  it('report the keys and the readiness', async () => {
    const names = ['keys_valid', 'keys_without_data', 'keys_file_refused', 'keys_file_exposed', 'ready'];
    expect(await valuesOf(...names)).to.deep.equal([4, 1, 0, 0, 1]);
    Object.assign(operations, emptyOperations());
    operations.keys.complaint = 'the file is gone';
    operations.keys.warning = 'others can write to the file';
    expect(await valuesOf(...names)).to.deep.equal([0, 0, 1, 1, 0]);
  });
});
