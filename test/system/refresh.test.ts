import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { PREVIEW, VERSION_HEADER } from '../../src/contract/releases.ts';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { snapshotIdOf } from '../support/altered-snapshot.ts';
import { type Connection, connectionsToEach, MORTAL } from '../support/connections.ts';
import { byDepth } from '../support/depth.ts';
import { markedReplicaForAll, numberOf } from '../support/marked-replica.ts';
import { times } from '../support/records.ts';
import { newCredential } from '../support/replica-under-test.ts';

const SWAPS = byDepth({ short: 12, deep: 100 });
const CLIENTS = 4;
const THREADS = 2;

const PATHS = [
  '/v1/tickets?perPage=30',
  '/v1/tickets?eventIds=evt_0,evt_2',
  '/v1/tickets?updatedAt.gte=2026-01-01T09:00:00Z&updatedAt.lt=2026-01-01T23:00:00Z',
  '/v1/tickets/tkt_3',
  '/v1/orders?email=name1@example.org',
  '/v1/events?tags=tag+1',
  '/v1/events/evt_1/sessions',
  '/v1/events/evt_2',
  '/v1/catalog/offers?resaleEnabled=true',
];

describe('A replica under load', () => {
  const replica = markedReplicaForAll();
  let connections: Connection[];

  before(async () => {
    await replica.start({ THREADS: String(THREADS), NODE_OPTIONS: MORTAL });
    connections = await connectionsToEach(replica.process, THREADS, 2);
  });

  after(() => {
    for (const connection of connections) connection.close();
  });

  it(`swaps ${SWAPS} snapshots: no request fails, no page mixes two, and none is older than the one before`, async () => {
    const seen = new Set<number>();
    let isDone = false;
    const swap = async () => {
      for (let i = 0; i < SWAPS; i++) await replica.publish();
    };
    /** Requests pages and records of all workers in turn. */
    const client = async (c: number) => {
      let newest = 0;
      for (let i = c; !isDone; i++) {
        const path = PATHS[i % PATHS.length];
        const connection = connections[i % connections.length];
        const n = numberOf(
          await connection.ask(path, replica.credential, { [VERSION_HEADER]: PREVIEW }),
          path,
        );
        expect(n, path).to.be.at.least(newest);
        newest = n;
        seen.add(n);
        // Leaves processor time for the loader and for other processes.
        await delay(2);
      }
    };
    await Promise.all([swap().finally(() => (isDone = true)), ...times(CLIENTS, client)]);
    expect(seen.size, 'snapshots in responses').to.be.greaterThan(SWAPS * 0.9);
  });
});

describe('SIGHUP', () => {
  const replica = markedReplicaForAll();
  const { inFolder } = replica;

  it('applies a revocation and a new snapshot at once, an hour before the next poll', async () => {
    // The system does not report changes behind a link; only a poll finds them.
    const behind = inFolder('snapshots/..behind');
    mkdirSync(behind);
    renameSync(inFolder('snapshots/north.sqlite'), `${behind}/one.sqlite`);
    symlinkSync('..behind/one.sqlite', inFolder('snapshots/north.sqlite'));
    const kept = newCredential(inFolder, 'north');
    const process = await replica.start({ SNAPSHOT_POLL_SECONDS: '3600' });
    expect((await replica.ask('/v1/events')).status).to.equal(200);
    const keys = new KeysFile(inFolder('keys.sqlite'));
    const [first] = keys.list();
    keys.revoke(first.keyId, new Date());
    renameSync(replica.draft(2), `${behind}/one.sqlite`);
    process.signal('SIGHUP');
    await process.waitForLog({ msg: 'keys live', validKeys: 1 });
    expect((await replica.ask('/v1/events')).status).to.equal(403);
    expect((await replica.ask('/v1/events', kept)).status).to.equal(200);
    await process.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(2) });
  });
});
