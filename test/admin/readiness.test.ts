import { expect } from 'chai';
import { reasonsNotReady } from '../../src/admin/admin-state.ts';
import { emptyImage } from '../support/empty-image.ts';
import {
  AGE_SECONDS,
  emptyOperations,
  NOW,
  operationsForEach,
  snapshotOf,
} from '../support/admin-operations.ts';
import { PRODUCED_AT } from '../support/api-fixture.ts';

describe('Readiness', () => {
  const operations = operationsForEach();
  const expectReasons = (...patterns: RegExp[]) => {
    expectReasonsAfter(undefined, ...patterns);
  };
  const expectReasonsAfter = (time: string | undefined, ...patterns: RegExp[]) => {
    const reasons = reasonsNotReady(operations, time);
    expect(reasons, reasons.join('\n')).to.have.length(patterns.length);
    for (const [i, pattern] of patterns.entries()) expect(reasons[i]).to.match(pattern);
  };
  const anHourAgo = new Date(NOW - 3_600_000).toISOString();

  it('requires a snapshot of any age, and keys', () => {
    expectReasons();
    operations.clock = () => NOW + 1e12;
    expectReasons();
  });

  it('gives a reason for each that is missing', () => {
    Object.assign(operations, emptyOperations());
    expectReasons(/no snapshot is live. Publish/i, /no keys file at keys\.sqlite/);
  });

  it('requires all threads to listen once, and then at least one', () => {
    const { workers } = operations;
    operations.workers = { ...workers, listening: 1, hasListened: false };
    expectReasons(/threads that answer requests have not started yet/);
    operations.workers = { ...workers, listening: 1, replaced: 1 };
    expectReasons();
    operations.workers = { ...workers, listening: 0, replaced: 2 };
    expectReasons(/No worker is listening/);
  });

  it('names an unreadable snapshot folder, or the file being loaded, while no snapshot is live', () => {
    Object.assign(operations, emptyOperations());
    operations.history.loading = { file: 'a.sqlite', startedAt: anHourAgo };
    expectReasons(/a\.sqlite is being loaded/, /no keys file/);
    operations.snapshots.complaint = 'ENOENT';
    expectReasons(/The snapshot folder snapshots cannot be read: ENOENT/, /no keys file/);
  });

  it('waits until all files of the start were tried', () => {
    operations.snapshots.hasTriedAll = false;
    expectReasons(/^Not all files of the snapshot folder snapshots are loaded yet/);
  });

  it('refers to the refused files while no snapshot is live', () => {
    Object.assign(operations, emptyOperations());
    const load = { file: 'bad.sqlite', startedAt: anHourAgo, durationMs: 1 };
    operations.history.add({ ...load, outcome: 'refused', reason: 'damaged', detail: 'a digest differs' });
    operations.keys.complaint = 'file is not a database';
    expectReasons(/refused. See \/status/, /keys\.sqlite cannot be used: file is not a database/);
  });

  it('remains with data and keys while the snapshot folder and the keys file are unreadable', () => {
    operations.snapshots.complaint = 'ENOENT';
    operations.keys.complaint = 'the file is gone';
    expectReasons();
  });

  it('ends when the process begins to stop', () => {
    operations.workers.isStopping = () => true;
    expectReasons(/stopping/);
  });

  it('ends as soon as a snapshot is older than the age limit', () => {
    operations.config.maxSnapshotAgeSeconds = AGE_SECONDS;
    expectReasons();
    operations.clock = () => NOW + 1;
    expectReasons(/^main\.sqlite was produced at .*, 7200 s ago; MAX_SNAPSHOT_AGE_SECONDS is 7200\. Publish/);
  });

  it('applies the age limit to each file', () => {
    operations.config.maxSnapshotAgeSeconds = 4000;
    operations.stores.swap('fresh.sqlite', snapshotOf('fresh', anHourAgo, emptyImage('fresh')));
    expectReasons(/^main\.sqlite/);
    operations.clock = () => NOW + 3_600_000;
    expectReasons(/^fresh\.sqlite/, /^main\.sqlite/);
  });

  it('treats a snapshot from the future as new', () => {
    operations.config.maxSnapshotAgeSeconds = 1;
    operations.clock = () => NOW - 1e9;
    expectReasons();
  });

  it('waits for data that was produced after a time, not at it', () => {
    const instant = Date.parse(PRODUCED_AT);
    const at = (ms: number) => new Date(instant + ms).toISOString();
    expectReasonsAfter(at(-1));
    expectReasonsAfter(at(0), /^main\.sqlite was produced at .*, which is not after .*Z\. Publish a newer/);
    expectReasonsAfter(at(0).replace('Z', '+01:00'));
    expectReasonsAfter(at(0).replace('Z', '-00:01'), /^main\.sqlite/);
    expectReasonsAfter(PRODUCED_AT.replace(/(\.\d+)?Z$/, '.000001Z'), /^main\.sqlite/);
  });

  it('waits until the data of every file was produced after the time, removed files included', () => {
    operations.stores.swap('fresh.sqlite', snapshotOf('fresh', anHourAgo, emptyImage('fresh')));
    expectReasonsAfter(PRODUCED_AT, /^main\.sqlite/);
    expectReasonsAfter(anHourAgo, /^fresh\.sqlite/, /^main\.sqlite/);
    operations.stores.markFileRemoved('main.sqlite');
    expectReasonsAfter(PRODUCED_AT, /^main\.sqlite .*The file was removed.*restart/);
  });

  it('waits for data and keys whatever the time', () => {
    Object.assign(operations, emptyOperations());
    expectReasonsAfter('2000-01-01T00:00Z', /No snapshot is live/, /no keys file/);
  });
});
