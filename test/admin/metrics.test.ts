import { expect } from 'chai';
import { metricsText } from '../../src/admin/prometheus.ts';
import { RequestMetrics } from '../../src/counts/request-metrics.ts';
import { REFUSALS } from '../../src/snapshot/format/refused-snapshot.ts';
import { emptyImage } from '../support/empty-image.ts';
import {
  emptyOperations,
  MEMORY_LIMIT_BYTES,
  RETAINABLE_BYTES,
  NOW,
  type Operations,
  readyOperations,
  snapshotOf,
} from '../support/admin-operations.ts';
import { noteUse } from '../../src/store/organization-image.ts';

const ANSWERED = { operation: 'listOrders', status: 200, version: 'stable', seconds: 0.003 };
/** A load of a snapshot, without its outcome. */
const LOAD = { file: 'a.sqlite', startedAt: new Date(NOW).toISOString(), durationMs: 1 };

describe('The metrics', () => {
  let operations: Operations;

  beforeEach(async () => {
    operations = await readyOperations();
  });

  /** Returns the values of all samples, by name and labels such as `name{label="value"}`. */
  const scrape = async () => {
    const lines = (await metricsText(operations)).match(/^[^#\n].*$/gm) ?? [];
    const samples = new Map(lines.map((line) => [line.replace(/ \S+$/, ''), Number(line.split(' ').at(-1))]));
    expect(samples.size, 'without repeated samples').to.equal(lines.length);
    return samples;
  };
  const samplesOf = async (name: string) =>
    Object.fromEntries([...(await scrape())].filter(([key]) => key.startsWith(name)));

  /** Returns the values of metrics without labels. */
  const valuesOf = async (...names: string[]) => {
    const samples = await scrape();
    return names.map((name) => samples.get(`foyer_${name}`));
  };

  it('follow the naming conventions of Prometheus', async () => {
    const text = await metricsText(operations);
    const own = [...text.matchAll(/^# HELP (foyer_\w+) (.*)\n# TYPE \1 (\w+)$/gm)];
    expect(own).to.have.length(text.match(/^# TYPE foyer_/gm)?.length ?? NaN);
    for (const [, name, help, type] of own) {
      expect(name.endsWith('_total'), name).to.equal(type === 'counter');
      expect(help).to.match(/^[A-Z].*\.$/);
      expect(name).not.to.match(/_(ms|milliseconds|kb|mb|percent)\b/);
    }
  });

  it('count requests by operation, status and version, for all workers together', async () => {
    const second = new RequestMetrics();
    operations.workers = { ...operations.workers, requestMetrics: [operations.metrics, second] };
    const request = { ...ANSWERED, operation: 'getTicket' };
    operations.metrics.countRequest(request);
    second.countRequest(request);
    second.countRequest({ ...request, version: '2026-10-01' });
    second.countRequest({ status: 431 });
    expect(await samplesOf('foyer_requests_total')).to.deep.equal({
      'foyer_requests_total{operation="getTicket",status="200",version="stable"}': 2,
      'foyer_requests_total{operation="getTicket",status="200",version="upcoming"}': 1,
      'foyer_requests_total{operation="other",status="431",version="none"}': 1,
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

  it('count requests over links to data that is no longer live by their outcome', async () => {
    for (const pin of ['retained', undefined, 'gone', 'retained'] as const)
      operations.metrics.countRequest({ ...ANSWERED, pin });
    expect(await samplesOf('foyer_pinned_requests_total')).to.deep.equal({
      'foyer_pinned_requests_total{outcome="retained"}': 2,
      'foyer_pinned_requests_total{outcome="gone"}': 1,
      'foyer_pinned_requests_total{outcome="not-loaded"}': 0,
    });
  });

  it('count responses with 429 by their reason', async () => {
    const reasons = ['rate-limit', 'overload', 'overload', 'not-ready', 'not-ready', 'not-ready'] as const;
    for (const retryReason of reasons)
      operations.metrics.countRequest({ ...ANSWERED, status: 429, retryReason });
    const names = ['requests_rate_limited_total', 'requests_shed_total', 'requests_not_ready_total'];
    expect(await valuesOf(...names)).to.deep.equal([1, 2, 3]);
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
    expect(await samplesOf('foyer_snapshot_age_seconds')).to.deep.equal({
      [`foyer_snapshot_age_seconds{${main}}`]: 7200,
      [`foyer_snapshot_age_seconds{${odd}}`]: 0,
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
    stores.releaseUnwalked();
    expect(retained.lists.tickets.bytesHeld).to.be.greaterThan(10_000);
    expect(await samplesOf('foyer_store_bytes_held')).to.deep.equal({
      'foyer_store_bytes_held{state="live"}': stores.liveBytes,
      'foyer_store_bytes_held{state="retained"}': retained.lists.tickets.bytesHeld,
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

  it('report the keys and the readiness', async () => {
    const names = ['keys_valid', 'keys_without_data', 'keys_file_refused', 'keys_file_exposed', 'ready'];
    expect(await valuesOf(...names)).to.deep.equal([4, 1, 0, 0, 1]);
    operations = emptyOperations();
    operations.keys.complaint = 'the file is gone';
    operations.keys.warning = 'others can write to the file';
    expect(await valuesOf(...names)).to.deep.equal([0, 0, 1, 1, 0]);
  });
});
