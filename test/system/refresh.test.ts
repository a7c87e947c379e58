import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { alteredCopy, asOrganization, producedAtOf, snapshotIdOf } from '../support/altered-snapshot.ts';
import { type Connection, connectionsToEach, MORTAL } from '../support/connections.ts';
import { byDepth } from '../support/depth.ts';
import type { ImportRecord } from '../support/import-folder.ts';
import { MarkedSnapshots, marksIn } from '../support/marked-snapshots.ts';
import { times } from '../support/records.ts';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const SWAPS = byDepth({ short: 12, deep: 100 });
const STORM = byDepth({ short: 40, deep: 200 });
/** Pause between two snapshots of a storm, shorter than the settle time. */
const STORM_PAUSE_MS = 50;
const CLIENTS = 4;
const THREADS = 2;
const PREVIEW = { 'Service-API-Version': 'preview' };

/** Lists that have some records, each with the beginning of a query. */
const LISTS = [
  '/v1/tickets?',
  '/v1/tickets?eventIds=evt_0,evt_2&',
  '/v1/tickets?updatedAt.gte=2026-01-01T09:00:00Z&updatedAt.lt=2026-01-01T23:00:00Z&',
  '/v1/orders?',
  '/v1/orders?email=name1@example.org&',
  '/v1/events?',
  '/v1/events?tags=tag+1&',
  '/v1/events/evt_1/sessions?',
  '/v1/catalog/offers?',
  '/v1/catalog/offers?resaleEnabled=true&',
];
const PATHS = [...LISTS.map((list) => `${list}perPage=30`), '/v1/tickets/tkt_3', '/v1/events/evt_2'];

interface Page {
  readonly items: readonly ImportRecord[];
  readonly nextPage: string | null;
}

interface Walk {
  readonly list: string;
  readonly perPage: number;
  readonly pages: Page[];
  next: string | null;
}

describe('A replica under load', () => {
  const inFolder = folderForAll();
  const credentials = new Map<string, string>();
  let snapshots: MarkedSnapshots;
  let replica: ReplicaUnderTest;
  let connections: Connection[];
  let next = 1;

  before(async () => {
    snapshots = await MarkedSnapshots.build(inFolder);
    snapshots.place(next);
    alteredCopy(snapshots.draft(0), inFolder('snapshots/west.sqlite'), asOrganization('west'));
    for (const id of ['north', 'west']) credentials.set(id, newCredential(inFolder, id));
    replica = await ReplicaUnderTest.startReady(inFolder, { THREADS: String(THREADS), NODE_OPTIONS: MORTAL });
    await isLive(0);
    await isLive(next++);
    connections = await connectionsToEach(replica, THREADS, 2);
  });

  after(async () => {
    for (const connection of connections) connection.close();
    await replica.end();
  });

  const isLive = (n: number) => replica.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(n) });

  const ask = (connection: Connection, path: string, organizationId = 'north') =>
    connection.ask(path, credentials.get(organizationId), PREVIEW);

  /** Returns the number of the snapshot of a complete response of `north`. */
  async function numberOf(connection: Connection, path: string): Promise<number> {
    const { status, headers, text } = await ask(connection, path);
    expect(status, `${path}: ${text}`).to.equal(200);
    const [n, ...others] = new Set(marksIn(text));
    expect(others, `other snapshots in ${path}`).to.deep.equal([]);
    expect(headers).to.include({
      'service-snapshot-id': snapshotIdOf(n),
      'service-data-as-of': producedAtOf(n),
    });
    return n;
  }

  /**
   * Requests pages and records while `work` runs. Each client asks all workers in turn, and never gets an older snapshot
   * after a newer one.
   */
  async function underLoad(work: () => Promise<void>) {
    const seen = new Set<number>();
    const done = new AbortController();
    const client = async (c: number) => {
      let newest = 0;
      for (let i = c; !done.signal.aborted; i++) {
        const path = PATHS[i % PATHS.length];
        const n = await numberOf(connections[i % connections.length], path);
        expect(n, path).to.be.at.least(newest);
        newest = n;
        seen.add(n);
        // Leaves processor time for the loader and for other processes.
        await delay(2);
      }
    };
    const clientOfOtherFile = async () => {
      const tags = new Set<string>();
      while (!done.signal.aborted) {
        const { status, headers } = await ask(connections[0], '/v1/tickets', 'west');
        tags.add(`${status} ${String(headers['service-snapshot-id'])} ${String(headers.etag)}`);
        await delay(5);
      }
      expect([...tags]).to.have.length(1);
    };
    const working = work().finally(() => {
      done.abort();
    });
    await Promise.all([working, clientOfOtherFile(), ...times(CLIENTS, client)]);
    return seen;
  }

  it(`swaps ${SWAPS} snapshots: no request fails, no page mixes two, and the organization of another file is unaffected`, async () => {
    const seen = await underLoad(async () => {
      for (const last = next + SWAPS; next < last; next++) await snapshots.publish(replica, next);
    });
    expect(seen.size, 'snapshots in responses').to.be.greaterThan(SWAPS * 0.9);
  });

  it(`ends on the newest of ${STORM} snapshots published in ${(STORM * STORM_PAUSE_MS) / 1000} s, and no request fails`, async () => {
    const last = next + STORM - 1;
    const drafts: string[] = [];
    while (next <= last) {
      drafts.push(snapshots.draft(next++));
      // Yields, so that this process notices idle connections that the replica closes.
      await delay(0);
    }
    await underLoad(async () => {
      for (const draft of drafts) {
        renameSync(draft, inFolder('snapshots/north.sqlite'));
        await delay(STORM_PAUSE_MS);
      }
      await isLive(last);
    });
    expect(await numberOf(connections[0], '/v1/events')).to.equal(last);
    expect(replica.linesOf({ msg: 'snapshot refused' })).to.deep.equal([]);
  });

  it('serves a walk from one snapshot, each record once, with a swap between its pages and any worker for each', async () => {
    const first = next - 1;
    const pageOf = async (path: string, turn = 0) => {
      const { status, headers, text } = await ask(connections[turn % connections.length], path);
      expect([status, headers['service-snapshot-id']], path).to.deep.equal([200, snapshotIdOf(first)]);
      return JSON.parse(text) as Page;
    };
    const whole = new Map<string, Page>();
    for (const list of LISTS) whole.set(list, await pageOf(`${list}perPage=100`));
    const walks = LISTS.flatMap((list) =>
      [3, 7].map((perPage): Walk => ({ list, perPage, pages: [], next: `${list}perPage=${perPage}` })),
    );
    for (let swaps = 0; walks.some((walk) => walk.next !== null); swaps++) {
      for (const [i, walk] of walks.entries()) {
        if (walk.next === null) continue;
        const page = await pageOf(walk.next, i + swaps);
        walk.pages.push(page);
        walk.next = page.nextPage;
      }
      await snapshots.publish(replica, next);
      expect(await numberOf(connections[0], '/v1/tickets')).to.equal(next++);
    }
    for (const { list, perPage, pages } of walks) {
      const { items = [] } = whole.get(list) ?? {};
      expect(items, list).not.to.be.empty;
      expect(
        pages.flatMap((page) => page.items),
        `${list}perPage=${perPage}`,
      ).to.deep.equal(items);
      expect(pages).to.have.length(Math.ceil(items.length / perPage));
    }
  });
});

describe('SIGHUP', () => {
  const inFolder = folderForAll();

  it('applies a revocation and a new snapshot at once, an hour before the next poll', async () => {
    const snapshots = await MarkedSnapshots.build(inFolder);
    // The system does not report changes behind a link; only a poll finds them.
    const behind = inFolder('snapshots/..behind');
    mkdirSync(behind, { recursive: true });
    renameSync(snapshots.draft(1), `${behind}/one.sqlite`);
    symlinkSync('..behind/one.sqlite', inFolder('snapshots/one.sqlite'));
    const [revoked, kept] = [newCredential(inFolder, 'north'), newCredential(inFolder, 'north')];
    const replica = await ReplicaUnderTest.startReady(inFolder, { SNAPSHOT_POLL_SECONDS: '3600' });
    try {
      expect((await replica.request('/v1/events', revoked)).status).to.equal(200);
      const keys = new KeysFile(inFolder('keys.sqlite'));
      const [first] = keys.list();
      keys.revoke(first.keyId, new Date());
      renameSync(snapshots.draft(2), `${behind}/one.sqlite`);
      replica.signal('SIGHUP');
      await replica.waitForLog({ msg: 'keys live', validKeys: 1 });
      const statuses = [revoked, kept].map(async (key) => (await replica.request('/v1/events', key)).status);
      expect((await Promise.all(statuses)).sort()).to.deep.equal([200, 403]);
      await replica.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(2) });
    } finally {
      await replica.end();
    }
  });
});
