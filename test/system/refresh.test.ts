import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { asSnapshot, producedAtOf, restampedCopy, snapshotIdOf } from '../support/altered-snapshot.ts';
import { type Connection, connectionsToEach, MORTAL } from '../support/connections.ts';
import { byDepth } from '../support/depth.ts';
import { build, type ImportRecord, writeImport } from '../support/import-folder.ts';
import { markedImport, MarkedSnapshots, marksIn } from '../support/marked-snapshots.ts';
import { times } from '../support/records.ts';
import { type Answer, newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const SWAPS = byDepth({ short: 12, deep: 100 });
const STORM = byDepth({ short: 40, deep: 200 });
/** Pause between two snapshots of a storm, shorter than the settle time. */
const STORM_PAUSE_MS = 50;
const VARIANTS = 4;
const CLIENTS = 4;
const THREADS = 2;
const PREVIEW = { 'Service-API-Version': 'preview' };
const IMPORTS = times(VARIANTS, (variant) => markedImport(['north', 'south'], variant));

/** A request and its expected records: `rows` of the records of a collection that match `where`, in list order. */
interface Target {
  readonly path: string;
  readonly of: 'events' | 'sessions' | 'tickets' | 'orders' | 'offers';
  readonly where?: (record: ImportRecord) => boolean;
  readonly rows?: readonly [from: number, to: number];
}

const TARGETS: readonly Target[] = [
  { path: '/v1/tickets?perPage=30&page=3', of: 'tickets', rows: [60, 90] },
  {
    path: '/v1/tickets?updatedAt.gte=2026-01-02T12:00:00Z&perPage=50',
    of: 'tickets',
    where: ({ updatedAt }) => String(updatedAt) >= '2026-01-02T12:00:00.000Z',
    rows: [0, 50],
  },
  { path: '/v1/tickets?qrCodes=qr-7', of: 'tickets', where: ({ qrCode }) => qrCode === 'qr-7' },
  { path: '/v1/tickets/tkt_3', of: 'tickets', where: ({ ticketId }) => ticketId === 'tkt_3' },
  { path: '/v1/orders?perPage=100', of: 'orders' },
  {
    path: '/v1/orders?email=name3@example.org',
    of: 'orders',
    where: ({ customer }) => JSON.stringify(customer).includes('name3@'),
  },
  { path: '/v1/events?tags=tag+1', of: 'events', where: ({ tags }) => JSON.stringify(tags) === '["tag 1"]' },
  { path: '/v1/events/evt_1/sessions', of: 'sessions', where: ({ eventId }) => eventId === 'evt_1' },
  {
    path: '/v1/catalog/offers?resaleEnabled=true',
    of: 'offers',
    where: ({ pricing }) => JSON.stringify(pricing).includes('true'),
  },
];

/** The id and the list order of each collection. */
const LISTED = {
  events: { id: 'id', by: 'createdAt', descending: true },
  sessions: { id: 'id', by: 'startAt', descending: false },
  tickets: { id: 'ticketId', by: 'issuedAt', descending: true },
  orders: { id: 'orderId', by: 'createdAt', descending: true },
  offers: { id: 'offerId', by: 'createdAt', descending: false },
} as const;

/** Returns the expected ids of a response in each variant, from the imported records. */
function expectedIds({ of, where = () => true, rows = [0, Infinity] }: Target): string[] {
  const { id, by, descending } = LISTED[of];
  return IMPORTS.map((files) => {
    const imported = files[of] as readonly ImportRecord[];
    const found = imported
      .filter((record) => record['organizationId'] === 'north' && where(record))
      .sort((a, b) => (String(a[by]) < String(b[by]) ? -1 : 1));
    if (descending) found.reverse();
    const ids = found.slice(...rows).map((record) => String(record[id]));
    return ids.join();
  });
}

const EXPECTED = new Map(TARGETS.map((target) => [target, expectedIds(target)]));

describe('A replica under load', () => {
  const inFolder = folderForAll();
  const credentials = new Map<string, string>();
  let snapshots: MarkedSnapshots;
  let replica: ReplicaUnderTest;
  let connections: Connection[];
  let next = 1;

  before(async () => {
    snapshots = await MarkedSnapshots.build(inFolder, IMPORTS);
    snapshots.place(next);
    writeImport(inFolder('import-west'), markedImport(['west'], 0));
    await build(inFolder('import-west'), inFolder('west'));
    restampedCopy(inFolder('west'), inFolder('snapshots/west.sqlite'), asSnapshot(0));
    for (const id of ['north', 'south', 'west']) credentials.set(id, newCredential(inFolder, id));
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

  const ask = (connection: Connection, organizationId: string, path: string) =>
    connection.ask(path, credentials.get(organizationId), PREVIEW);

  /** Returns the number of the snapshot of a response for north or south, and what is wrong with it. */
  function examine(target: Target, { status, headers, text }: Answer): { n: number; faults: string[] } {
    const n = Number(String(headers['service-snapshot-id']).slice(-12));
    if (status !== 200) return { n, faults: [`${status} ${text}`] };
    const faults: string[] = [];
    const asOf = headers['service-data-as-of'];
    if (asOf !== producedAtOf(n)) faults.push(`data as of ${String(asOf)}`);
    const { items, ...record } = JSON.parse(text) as ImportRecord & { items?: readonly ImportRecord[] };
    const records = items ?? [record];
    const marks = marksIn(text);
    if (marks.length !== records.length || marks.some((mark) => mark !== n))
      faults.push(`marks ${marks.join()}`);
    const ids = records.map((one) => String(Object.values(one)[0])).join();
    const expected = EXPECTED.get(target)?.[n % VARIANTS];
    if (ids !== expected || ids === '') faults.push(`ids ${ids} instead of ${String(expected)}`);
    return { n, faults };
  }

  /**
   * Requests pages and records while `work` runs. Each client asks all workers in turn, and never gets an older snapshot
   * after a newer one.
   */
  async function underLoad(work: () => Promise<void>) {
    const faults: string[] = [];
    const seen = new Set<number>();
    let requests = 0;
    let isDone = false;
    const client = async (c: number) => {
      const newest = new Map<string, number>();
      for (let i = c; !isDone; i++) {
        const target = TARGETS[i % TARGETS.length];
        const organizationId = i % 5 < 3 ? 'north' : 'south';
        const answer = await ask(connections[i % connections.length], organizationId, target.path);
        const found = examine(target, answer);
        const { n } = found;
        faults.push(...found.faults.map((fault) => `${target.path} of snapshot ${n}: ${fault}`));
        if (n < (newest.get(organizationId) ?? 0)) faults.push(`${n} after a newer one`);
        newest.set(organizationId, n);
        seen.add(n);
        requests++;
        // Leaves processor time for the loader and for other processes.
        await delay(2);
      }
    };
    const clientOfOtherFile = async () => {
      const tags = new Set<string>();
      while (!isDone) {
        const { status, headers } = await ask(connections[0], 'west', '/v1/tickets');
        tags.add(`${status} ${String(headers['service-snapshot-id'])} ${String(headers.etag)}`);
        await delay(5);
      }
      if (tags.size > 1) faults.push(`west: ${[...tags].join(', ')}`);
    };
    const clients = [clientOfOtherFile(), ...times(CLIENTS, client)];
    try {
      await work();
    } finally {
      isDone = true;
      await Promise.all(clients);
    }
    expect(faults.slice(0, 5)).to.deep.equal([]);
    return { requests, seen };
  }

  it(`swaps ${SWAPS} snapshots: no request fails, no page mixes two, and the organization of another file is unaffected`, async () => {
    const { requests, seen } = await underLoad(async () => {
      for (const last = next + SWAPS; next < last; next++) await snapshots.publish(replica, next);
    });
    expect(requests).to.be.greaterThan(SWAPS * TARGETS.length);
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
    const { headers } = await ask(connections[0], 'north', '/v1/events');
    expect(headers['service-snapshot-id']).to.equal(snapshotIdOf(last));
    expect(replica.linesOf({ msg: 'snapshot refused' })).to.deep.equal([]);
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
