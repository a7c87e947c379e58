import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { KeysFile } from '../../src/keys/keys-file.ts';
import { build, type ImportRecord, writeImport } from '../support/import-folder.ts';
import { byDepth } from '../support/depth.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { alteredCopy, asSnapshot, producedAtOf, restampedCopy, snapshotIdOf } from './altered-snapshot.ts';
import { markedAs, markedImport, marksIn } from './marked-import.ts';
import { type Answer, newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';

const SWAPS = byDepth({ short: 12, deep: 100 });
const STORM = byDepth({ short: 40, deep: 200 });
/** Pause between two snapshots of a storm, shorter than the settle time. */
const STORM_PAUSE_MS = 50;
const VARIANTS = 4;
const CONNECTIONS = 4;
const PREVIEW = { 'Service-API-Version': 'preview' };

/** A request and its expected records: `rows` of the records of a collection that match `where`, in list order. */
interface Target {
  readonly path: string;
  readonly of: 'events' | 'sessions' | 'tickets' | 'orders' | 'offers';
  readonly where?: (record: ImportRecord) => boolean;
  readonly rows?: readonly [from: number, to: number];
}

const TARGETS: readonly Target[] = [
  { path: '/v1/tickets?perPage=100', of: 'tickets', rows: [0, 100] },
  { path: '/v1/tickets?perPage=30&page=3', of: 'tickets', rows: [60, 90] },
  {
    path: '/v1/tickets?eventIds=evt_1,evt_3&perPage=20',
    of: 'tickets',
    where: ({ eventId }) => eventId === 'evt_1' || eventId === 'evt_3',
    rows: [0, 20],
  },
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
    path: '/v1/orders?status=PENDING&perPage=100',
    of: 'orders',
    where: ({ status }) => status === 'PENDING',
  },
  {
    path: '/v1/orders?email=name3@example.org',
    of: 'orders',
    where: ({ customer }) => JSON.stringify(customer).includes('name3@'),
  },
  { path: '/v1/orders/ord_9', of: 'orders', where: ({ orderId }) => orderId === 'ord_9' },
  { path: '/v1/events', of: 'events' },
  { path: '/v1/events?tags=tag+1', of: 'events', where: ({ tags }) => JSON.stringify(tags) === '["tag 1"]' },
  { path: '/v1/events/evt_2', of: 'events', where: ({ id }) => id === 'evt_2' },
  { path: '/v1/events/evt_1/sessions', of: 'sessions', where: ({ eventId }) => eventId === 'evt_1' },
  { path: '/v1/catalog/offers', of: 'offers' },
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
  return Array.from({ length: VARIANTS }, (_, variant) => {
    const { id, by, descending } = LISTED[of];
    const imported = markedImport(['north'], variant)[of] as readonly ImportRecord[];
    const found = imported.filter(where).sort((a, b) => (String(a[by]) < String(b[by]) ? -1 : 1));
    if (descending) found.reverse();
    return found
      .slice(...rows)
      .map((record) => String(record[id]))
      .join();
  });
}

const EXPECTED = new Map(TARGETS.map((target) => [target, expectedIds(target)]));

describe('A replica under load', () => {
  const inFolder = folderForAll();
  const inSnapshots = (name: string) => join(inFolder('snapshots'), name);
  const credentials = new Map<string, string>();
  let replica: ReplicaUnderTest;
  let next = 1;

  before(async () => {
    mkdirSync(inFolder('snapshots'));
    for (let variant = 0; variant < VARIANTS; variant++) {
      writeImport(inFolder(`import-${variant}`), markedImport(['north', 'south'], variant));
      await build(inFolder(`import-${variant}`), inFolder(`variant-${variant}`));
    }
    writeImport(inFolder('import-west'), markedImport(['west'], 0));
    await build(inFolder('import-west'), inFolder('west'));
    restampedCopy(inFolder('west'), inSnapshots('west.sqlite'), asSnapshot(0));
    publish(drafted(next));
    for (const id of ['north', 'south', 'west']) credentials.set(id, newCredential(inFolder, id));
    // walk.test.ts and refusals.test.ts run with one worker.
    replica = await ReplicaUnderTest.start(inFolder, { THREADS: '2' });
    await isLive(0);
    await isLive(next++);
  });

  after(() => replica.end());

  /** Makes the `n`th snapshot, with `n` as the mark of every record. */
  function drafted(n: number): string {
    const built = inFolder(`variant-${n % VARIANTS}`);
    return alteredCopy(built, inFolder(`draft-${n}`), asSnapshot(n), markedAs(n));
  }

  function publish(draft: string): void {
    renameSync(draft, inSnapshots('pair.sqlite'));
  }

  const isLive = (n: number) => replica.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(n) });

  const ask = (organizationId: string, path: string, headers: Readonly<Record<string, string>> = {}) =>
    replica.request(path, credentials.get(organizationId) ?? '', { ...PREVIEW, ...headers });

  /** Checks the responses during a load, and collects the faults. */
  class Observed {
    requests = 0;
    readonly snapshots = new Set<number>();
    readonly faults: string[] = [];

    /** Checks a response for north or south. Returns the number of its snapshot. */
    note(target: Target, answer: Answer): number {
      this.requests++;
      const { status, headers, text } = answer;
      const n = Number(String(headers['service-snapshot-id']).slice(-12));
      const fault = (what: string) => this.faults.push(`${target.path} of snapshot ${n}: ${what}`);
      if (status !== 200) {
        fault(`${status} ${text}`);
        return n;
      }
      this.snapshots.add(n);
      if (headers['service-data-as-of'] !== producedAtOf(n))
        fault(`data as of ${String(headers['service-data-as-of'])}`);
      const { items, ...record } = JSON.parse(text) as ImportRecord & { items?: readonly ImportRecord[] };
      const records = items ?? [record];
      const marks = marksIn(text);
      if (marks.length !== records.length || marks.some((mark) => mark !== n)) fault(`marks ${marks.join()}`);
      const ids = records.map((one) => String(Object.values(one)[0])).join();
      const expected = EXPECTED.get(target)?.[n % VARIANTS];
      if (ids !== expected || ids === '') fault(`ids ${ids} instead of ${String(expected)}`);
      return n;
    }
  }

  /** Requests pages and records over several connections while `work` runs. */
  async function underLoad(work: () => Promise<void>): Promise<Observed> {
    const observed = new Observed();
    const first = { etag: '', id: '' };
    let isDone = false;
    const connection = async (c: number) => {
      const newest = new Map<string, number>();
      for (let i = c; !isDone; i++) {
        const target = TARGETS[i % TARGETS.length];
        const organizationId = i % 5 < 3 ? 'north' : 'south';
        const n = observed.note(target, await ask(organizationId, target.path));
        if (n < (newest.get(organizationId) ?? 0)) observed.faults.push(`${n} after a newer one`);
        newest.set(organizationId, n);
        // Leaves processor time for the loader and for other processes.
        await delay(2);
      }
    };
    const otherFile = async () => {
      while (!isDone) {
        const { status, headers } = await ask('west', '/v1/tickets');
        const [etag, id] = [String(headers.etag), String(headers['service-snapshot-id'])];
        if (first.etag === '') Object.assign(first, { etag, id });
        if (status !== 200 || etag !== first.etag || id !== first.id)
          observed.faults.push(`west: ${status} ${id}`);
        await delay(5);
      }
    };
    const connections = [otherFile(), ...Array.from({ length: CONNECTIONS }, (_, c) => connection(c))];
    try {
      await work();
    } finally {
      isDone = true;
      await Promise.all(connections);
    }
    expect(first.id).to.equal(snapshotIdOf(0));
    return observed;
  }

  it(`swaps ${SWAPS} snapshots: no request fails, no page mixes two, and the organization of another file is unaffected`, async () => {
    const from = next;
    const observed = await underLoad(async () => {
      let draft = drafted(next);
      while (next < from + SWAPS) {
        publish(draft);
        const n = next++;
        draft = drafted(next);
        await isLive(n);
      }
    });
    expect(observed.faults.slice(0, 5)).to.deep.equal([]);
    expect(observed.requests).to.be.greaterThan(SWAPS * TARGETS.length);
    expect(observed.snapshots.size, 'snapshots in responses').to.be.greaterThan(SWAPS * 0.9);
  });

  it(`ends on the newest of ${STORM} snapshots published in ${(STORM * STORM_PAUSE_MS) / 1000} s, and no request fails`, async () => {
    const last = next + STORM - 1;
    const drafts: string[] = [];
    while (next <= last) {
      drafts.push(drafted(next++));
      // Yields, so that this process notices idle connections that the replica closes.
      await delay(0);
    }
    const observed = await underLoad(async () => {
      for (const draft of drafts) {
        publish(draft);
        await delay(STORM_PAUSE_MS);
      }
      await isLive(last);
    });
    expect(observed.faults.slice(0, 5)).to.deep.equal([]);
    expect((await ask('north', '/v1/events')).headers['service-snapshot-id']).to.equal(snapshotIdOf(last));
    expect(replica.linesOf({ msg: 'snapshot refused' })).to.deep.equal([]);
  });

  it('keeps the ETags of an organization whose content a new snapshot does not change', async () => {
    const before = await ask('north', '/v1/tickets');
    const southBefore = await ask('south', '/v1/tickets');
    const n = next++;
    const draft = alteredCopy(
      inSnapshots('pair.sqlite'),
      inFolder('draft'),
      asSnapshot(n),
      `UPDATE ticket_runs SET records = replace(records, '"JPY"', '"EUR"') WHERE organization_id = 'south'`,
    );
    publish(draft);
    await isLive(n);
    const condition = { 'If-None-Match': String(before.headers.etag) };
    const after = await ask('north', '/v1/tickets', condition);
    expect(after.status).to.equal(304);
    expect(after.headers['service-snapshot-id']).to.equal(snapshotIdOf(n));
    expect(before.headers['service-snapshot-id']).not.to.equal(snapshotIdOf(n));
    const southAfter = await ask('south', '/v1/tickets', {
      'If-None-Match': String(southBefore.headers.etag),
    });
    expect(southAfter.status, 'the changed organization').to.equal(200);
  });

  it('keeps serving the organizations of a removed file', async () => {
    const before = await ask('north', '/v1/tickets');
    renameSync(inSnapshots('pair.sqlite'), inFolder('away'));
    await replica.waitForLog({
      msg: 'snapshot file is gone; its organizations stay live',
      file: 'pair.sqlite',
    });
    const after = await ask('north', '/v1/tickets');
    expect(after.text).to.equal(before.text);
    expect(after.headers['service-snapshot-id']).to.equal(before.headers['service-snapshot-id']);
  });
});

describe('SIGHUP', () => {
  const inFolder = folderForAll();
  const inSnapshots = (name: string) => join(inFolder('snapshots'), name);
  let replica: ReplicaUnderTest;

  before(async () => {
    // The system does not report changes behind a link; only a poll finds them.
    mkdirSync(inSnapshots('..behind'), { recursive: true });
    symlinkSync('..behind/one.sqlite', inSnapshots('one.sqlite'));
    writeImport(inFolder('import'), markedImport(['north'], 0));
    await build(inFolder('import'), inFolder('built'));
    restampedCopy(inFolder('built'), inSnapshots('..behind/one.sqlite'), asSnapshot(1));
  });

  after(() => replica.end());

  it('applies a revocation and a new snapshot at once, an hour before the next poll', async () => {
    const keys = new KeysFile(inFolder('keys.sqlite'));
    const [revoked, kept] = [newCredential(inFolder, 'north'), newCredential(inFolder, 'north')];
    replica = await ReplicaUnderTest.start(inFolder, { SNAPSHOT_POLL_SECONDS: '3600' });
    await replica.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(1) });
    expect((await replica.request('/v1/events', revoked)).status).to.equal(200);

    const [first] = keys.list();
    expect(keys.revoke(first.keyId, new Date())).to.include({ already: false });
    renameSync(
      restampedCopy(inFolder('built'), inFolder('draft'), asSnapshot(2)),
      inSnapshots('..behind/one.sqlite'),
    );
    replica.signal('SIGHUP');
    await replica.waitForLog({ msg: 'keys live', validKeys: 1 });
    const statuses = [revoked, kept].map(async (key) => (await replica.request('/v1/events', key)).status);
    expect((await Promise.all(statuses)).sort()).to.deep.equal([200, 403]);
    await replica.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(2) });
    rmSync(inSnapshots('one.sqlite'));
  });
});
