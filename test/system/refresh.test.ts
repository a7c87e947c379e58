import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { PREVIEW, VERSION_HEADER } from '../../src/contract/releases.ts';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { alteredCopy, asOrganization, snapshotIdOf } from '../support/altered-snapshot.ts';
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
  const { inFolder } = replica;
  let ofWest: string;
  let connections: Connection[];

  before(async () => {
    alteredCopy(replica.draft(0), inFolder('snapshots/west.sqlite'), asOrganization('west'));
    ofWest = newCredential(inFolder, 'west');
    await replica.start({ THREADS: String(THREADS), NODE_OPTIONS: MORTAL });
    await isLive(0);
    await isLive(1);
    connections = await connectionsToEach(replica.process, THREADS, 2);
  });

  after(() => {
    for (const connection of connections) connection.close();
  });

  const isLive = (n: number) =>
    replica.process.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(n) });

  const ask = (connection: Connection, path: string, credential = replica.credential) =>
    connection.ask(path, credential, { [VERSION_HEADER]: PREVIEW });

  /**
   * Requests pages and records while `work` runs. Each client asks all workers in turn, and never gets an older snapshot
   * after a newer one. The organization of another file is unaffected.
   */
  async function underLoad(work: () => Promise<void>) {
    const seen = new Set<number>();
    const done = new AbortController();
    const client = async (c: number) => {
      let newest = 0;
      for (let i = c; !done.signal.aborted; i++) {
        const path = PATHS[i % PATHS.length];
        const n = numberOf(await ask(connections[i % connections.length], path), path);
        expect(n, path).to.be.at.least(newest);
        newest = n;
        seen.add(n);
        // Leaves processor time for the loader and for other processes.
        await delay(2);
      }
    };
    const clientOfWest = async () => {
      const tags = new Set<string>();
      while (!done.signal.aborted) {
        const { status, headers } = await ask(connections[0], '/v1/tickets', ofWest);
        tags.add(`${status} ${String(headers['service-snapshot-id'])} ${String(headers.etag)}`);
        await delay(5);
      }
      expect([...tags]).to.have.length(1);
    };
    const working = work().finally(() => {
      done.abort();
    });
    await Promise.all([working, clientOfWest(), ...times(CLIENTS, client)]);
    return seen;
  }

  it(`swaps ${SWAPS} snapshots: no request fails, and no page mixes two`, async () => {
    const seen = await underLoad(async () => {
      for (let i = 0; i < SWAPS; i++) await replica.publish();
    });
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
