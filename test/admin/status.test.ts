import { expect } from 'chai';
import { statusOf, summaryOf } from '../../src/admin/status.ts';
import { monotonicNow } from '../../src/clock.ts';
import { REFUSALS } from '../../src/snapshot/format/refused-snapshot.ts';
import { fixture, PRODUCED_AT } from '../support/api-fixture.ts';
import { emptyImage, WALKED } from '../support/empty-image.ts';
import {
  AGE_SECONDS,
  emptyOperations,
  FEED,
  MEMORY_LIMIT_BYTES,
  NOW,
  operationsForEach,
  snapshotOf,
  RETAINABLE_BYTES,
} from '../support/admin-operations.ts';
import { noteUse } from '../../src/store/organization-image.ts';

describe('The status', () => {
  const operations = operationsForEach();
  const status = () => statusOf(operations);
  const load = (file: string) => ({ file, startedAt: new Date(NOW).toISOString(), durationMs: 12 });

  it('describes the process', () => {
    const { version, startedAt, uptimeSeconds, ready, reasons, threads, memory, ...rest } = status();
    const { list, ...keys } = rest.keys;
    expect(list).to.have.length(5);
    expect(version).to.match(/^\d+\.\d+\.\d+/);
    expect(Date.parse(startedAt) + uptimeSeconds * 1000).to.be.closeTo(Date.now(), 60_000);
    expect({ ready, reasons, threads, keys }).to.deep.equal({
      ready: true,
      reasons: [],
      threads: { count: 1, listening: 1, replaced: 0 },
      keys: { file: 'keys.sqlite', valid: 4, validWithoutData: 1, complaint: null, warning: null },
    });
    expect(statusOf(emptyOperations()).keys).to.deep.include({ valid: 0, list: [] });
    Object.assign(operations.keys, { complaint: 'the file is gone', warning: 'others can write to it' });
    expect(status().keys).to.include({ complaint: 'the file is gone', warning: 'others can write to it' });
    expect(memory).to.deep.include({
      limitBytes: MEMORY_LIMIT_BYTES,
      heldBytes: operations.stores.liveBytes,
      retainedBytes: 0,
      retainableBytes: RETAINABLE_BYTES,
    });
    expect(memory.residentBytes).to.be.greaterThan(1e6);
  });

  it('lists the keys with their state, the hour of their last use, and whether their organization has data', () => {
    const digest = new Uint8Array(32);
    const key = { organizationId: 'north', label: '', digest, expiresAt: null, revokedAt: null };
    const ended = new Date(NOW).toISOString();
    operations.keys.current = [
      { ...key, keyId: 'key_a', label: 'till' },
      { ...key, keyId: 'key_b', digest: digest.with(0, 1), expiresAt: ended },
      { ...key, keyId: 'key_c', digest: digest.with(0, 2), expiresAt: ended, revokedAt: ended },
      { ...key, keyId: 'key_d', organizationId: 'absent' },
      { ...key, keyId: 'key_e', organizationId: 'absent', digest: digest.with(0, 1), revokedAt: ended },
    ];
    operations.workers.lastUseOf = (keyId) => (keyId === 'key_a' ? '2026-11-21T12:00:00.000Z' : undefined);
    const shown = { organizationId: 'north', label: '', expiresAt: null, hasData: true, lastUsedAt: null };
    expect(status().keys).to.deep.include({
      valid: 2,
      validWithoutData: 1,
      list: [
        { ...shown, keyId: 'key_a', label: 'till', state: 'valid', lastUsedAt: '2026-11-21T12:00:00.000Z' },
        { ...shown, keyId: 'key_b', state: 'expired', expiresAt: ended },
        { ...shown, keyId: 'key_c', state: 'revoked', expiresAt: ended },
        { ...shown, keyId: 'key_d', organizationId: 'absent', state: 'valid', hasData: false },
        { ...shown, keyId: 'key_e', organizationId: 'absent', state: 'revoked', hasData: false },
      ],
    });
  });

  it('lists the live snapshot of each file, with the record counts of each organization', async () => {
    const { image } = await fixture();
    operations.stores.swap('b.sqlite', snapshotOf('s2', new Date(NOW).toISOString(), emptyImage('b')));
    operations.stores.markFileRemoved('b.sqlite');
    const { snapshots } = status();
    expect(snapshots.map((each) => [each.file, each.isFilePresent, each.snapshotId])).to.deep.equal([
      ['b.sqlite', false, 's2'],
      ['main.sqlite', true, image.snapshotId],
    ]);
    expect(snapshots[1]).to.include({ producedAt: PRODUCED_AT, ageSeconds: AGE_SECONDS });
    const records = snapshots[1].organizations.map((each) => [each.organizationId, each.records]);
    expect(Object.fromEntries(records)).to.deep.equal({
      north: { events: 5, sessions: 7, tickets: 57, orders: 3, offers: 4 },
      south: { events: 2, sessions: 2, tickets: 1, orders: 1, offers: 1 },
      void: { events: 0, sessions: 0, tickets: 0, orders: 0, offers: 0 },
    });
    const bytes = snapshots.flatMap(({ organizations }) => organizations.map(({ bytesHeld }) => bytesHeld));
    expect(bytes.reduce((sum, each) => sum + each)).to.equal(operations.stores.liveBytes);
  });

  it('warns of a live snapshot that is ahead of the clock', () => {
    const producedAt = new Date(NOW + 6 * 60_000).toISOString();
    operations.stores.swap('b.sqlite', snapshotOf('s2', producedAt, emptyImage('b')));
    const [{ warning }, other] = status().snapshots;
    expect(warning)
      .to.include(`its production time, ${producedAt}, is more than 5 minutes ahead of the clock`)
      .and.include('publish a snapshot of the right time with --rollback');
    expect(other.warning).to.equal(null);
  });

  it('lists the feeds, in the summary with the first organizations that are held back', () => {
    const heldBack = Array.from({ length: 20 }, (_, i) => ({ organizationId: `o${i}`, reason: 'why' }));
    operations.feeds.current = [{ ...FEED, heldBack, heldBackCount: 20 }];
    expect(status().feeds).to.deep.equal(operations.feeds.current);
    const [feed] = summaryOf(operations).feeds;
    expect(feed).to.deep.equal({ ...FEED, heldBack: heldBack.slice(0, 10), heldBackCount: 20 });
  });

  it('lists the retained sections, with the time until their release', async () => {
    const { image } = await fixture();
    const { stores } = operations;
    const store = stores.view.get('north');
    if (store === undefined) throw new Error('north is not live');
    noteUse(store.lists.tickets, monotonicNow());
    stores.swap('main.sqlite', snapshotOf('s2', new Date(NOW).toISOString(), emptyImage('north')));
    stores.releaseExpired(WALKED);
    const { retained, memory } = status();
    expect(retained).to.have.length(1);
    const [{ replacedSecondsAgo, lastUsedSecondsAgo, goneInSeconds, ...rest }] = retained;
    expect(rest).to.deep.equal({
      file: 'main.sqlite',
      snapshotId: image.snapshotId,
      organizationId: 'north',
      list: 'tickets',
      bytesHeld: store.lists.tickets.bytesHeld,
    });
    expect(replacedSecondsAgo).to.be.within(0, 60);
    // The last use is rounded up to a whole second.
    expect(lastUsedSecondsAgo + goneInSeconds).to.be.within(300, 301);
    expect(memory.retainedBytes).to.equal(store.lists.tickets.bytesHeld);
    operations.config.snapshotRetainMaxSeconds = 10;
    expect(status().retained[0].goneInSeconds + replacedSecondsAgo).to.be.within(9, 10);
    operations.config.snapshotRetainMaxSeconds = 0;
    expect(status().retained[0].goneInSeconds).to.equal(0);
  });

  it('shows a load while it runs', () => {
    expect(status().loading).to.equal(null);
    operations.history.loading = { file: 'a.sqlite', startedAt: '2026-11-21T10:00:00.000Z' };
    expect(status().loading).to.deep.equal(operations.history.loading);
  });

  it('lists the refused files with advice, and the loads, latest first', () => {
    operations.history.add({ ...load('bad.sqlite'), outcome: 'refused', reason: 'wal', detail: 'why' });
    const live = { snapshotId: 's', producedAt: PRODUCED_AT, organizations: 3, rows: 83 };
    operations.history.add({ ...load('main.sqlite'), outcome: 'live', ...live });
    const { refused, loads } = status();
    expect(refused).to.deep.equal([
      {
        file: 'bad.sqlite',
        refusedAt: new Date(NOW).toISOString(),
        reason: 'wal',
        detail: 'why',
        advice: REFUSALS.wal,
        nextTryAt: null,
      },
    ]);
    expect(loads.map(({ file, outcome }) => [file, outcome])).to.deep.equal([
      ['main.sqlite', 'live'],
      ['bad.sqlite', 'refused'],
    ]);
  });

  it('contains no secret and no data of a record', async () => {
    const text = JSON.stringify(status());
    const { secrets } = await fixture();
    for (const word of [...secrets, '@example', 'QR', 'tkt_', 'ord_']) expect(text).not.to.include(word);
  });
});
