import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { byDepth } from '../support/depth.ts';
import { MARK, MARKED_IMPORT, MarkedSnapshots, marksIn } from '../support/marked-snapshots.ts';
import { inOrganization, minimalTicket, times } from '../support/records.ts';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const SWAPS = byDepth({ short: 14, deep: 50 });
/** The limit has room for a load, the live data, and some seven replaced snapshots of this size. */
const TICKETS = 5000;
const LIMIT_MB = 256;
/** Bound of the resident memory. It includes freed memory that the next load reuses; the limit does not. */
const MAX_RESIDENT_MB = 1.5 * LIMIT_MB;
const PER_PAGE = 100;
/** Pages of each walk between two swaps. A walk takes more than seven swaps. */
const PAGES_PER_SWAP = 4;
const RETAINED_BYTES = 'foyer_store_bytes_held{state="retained"}';
/** Latest walks whose snapshots are certainly retained. */
const RETAINED = 4;

interface Page {
  readonly items: readonly { readonly ticketId: string }[];
  readonly nextPage: string | null;
}

/** A walk over the tickets, page by page. */
class Walk {
  readonly ids: string[] = [];
  readonly snapshots = new Set<number>();
  next: string | null = `/v1/tickets?perPage=${PER_PAGE}`;
  /** Whether the snapshot was gone before the last page. */
  isEnded = false;

  async step(replica: ReplicaUnderTest, credential: string): Promise<void> {
    if (this.next === null) return;
    const { status, text } = await replica.request(this.next, credential);
    if (status === 400) {
      this.isEnded = true;
      this.next = null;
      return;
    }
    expect(status, this.next).to.equal(200);
    const [mark, ...others] = new Set(marksIn(text));
    expect(others, 'other snapshots in a page').to.deep.equal([]);
    this.snapshots.add(mark);
    const { items, nextPage } = JSON.parse(text) as Page;
    this.ids.push(...items.map(({ ticketId }) => ticketId));
    this.next = nextPage;
  }
}

/** Starts a replica of snapshots with tickets of a length. */
function givenReplica(length: number, environment: Readonly<Record<string, string>>) {
  const inFolder = folderForAll();
  let snapshots: MarkedSnapshots;
  let replica: ReplicaUnderTest;
  let credential: string;

  before(async () => {
    const offerName = MARK + 'x'.repeat(length);
    const tickets = times(TICKETS, (i) =>
      inOrganization('north')(minimalTicket(`tkt_${i}`, { offerName, orderId: `ord_${i}` })),
    );
    snapshots = await MarkedSnapshots.build(inFolder, { ...MARKED_IMPORT, tickets });
    credential = newCredential(inFolder, 'north');
    replica = await ReplicaUnderTest.start(inFolder, environment);
    await replica.waitForLog({ msg: 'keys live' });
  });

  after(() => replica.end());

  return {
    /** Publishes the `n`th snapshot. Returns the resident memory after the swap, in megabytes. */
    swap: async (n: number): Promise<number> => {
      const refused = replica.waitForLog({ msg: 'snapshot refused' });
      expect(await Promise.race([snapshots.publish(replica, n), refused])).to.equal(undefined);
      return (await replica.metric('process_resident_memory_bytes')) / 2 ** 20;
    },
    step: (walk: Walk) => walk.step(replica, credential),
    /** Fulfilled when no more data is retained than the limit permits. What is released depends on the uses until then. */
    released: async (): Promise<void> => {
      while ((await replica.metric(RETAINED_BYTES)) > (await replica.metric('foyer_retention_limit_bytes')))
        await delay(50);
    },
    metric: (name: string) => replica.metric(name),
    retained: async () => (await replica.status<Status>()).retained,
  };
}

interface Status {
  readonly retained: readonly {
    readonly snapshotId: string;
    readonly list: string;
    readonly goneInSeconds: number;
  }[];
}

describe('A replica at its memory limit', () => {
  const { swap, step, released } = givenReplica(0, { MEMORY_LIMIT_MB: String(LIMIT_MB) });

  it(`swaps ${SWAPS} times during walks, and releases the data of the oldest walks for the next load`, async () => {
    const walks: Walk[] = [];
    const resident: number[] = [];
    for (let n = 1; n <= SWAPS; n++) {
      resident.push(await swap(n));
      await released();
      walks.push(new Walk());
      for (const walk of walks) for (let i = 0; i < PAGES_PER_SWAP; i++) await step(walk);
    }
    expect(Math.max(...resident), 'resident memory, MB').to.be.below(MAX_RESIDENT_MB);

    for (const { snapshots } of walks) expect(snapshots.size).to.equal(1);
    expect(
      walks.some(({ isEnded }) => isEnded),
      'a walk whose snapshot was released',
    ).to.equal(true);
    expect(walks.slice(-RETAINED).map(({ isEnded }) => isEnded)).to.deep.equal(Array(RETAINED).fill(false));
    const whole = walks.filter(({ next, isEnded }) => next === null && !isEnded);
    for (const { ids } of whole) expect(new Set(ids).size).to.equal(ids.length).and.to.equal(TICKETS);
  });
});

describe('A replica with free memory', () => {
  const WALKS = 10;
  const RETAIN_SECONDS = 8;
  // Ten replaced snapshots hold several times the memory of the live one.
  const { swap, step, metric, retained } = givenReplica(2000, {
    SNAPSHOT_RETAIN_SECONDS: String(RETAIN_SECONDS),
  });

  it(`keeps the data of ${WALKS} walks of an organization until its announced end, each from another snapshot`, async () => {
    const walks: Walk[] = [];
    for (let n = 1; n <= WALKS; n++) {
      await swap(n);
      walks.push(new Walk());
      for (const walk of walks) await step(walk);
    }
    await swap(WALKS + 1);
    while (walks.some(({ next }) => next !== null)) for (const walk of walks) await step(walk);
    for (const { ids, snapshots, isEnded } of walks) {
      expect(isEnded).to.equal(false);
      expect(snapshots.size).to.equal(1);
      expect(new Set(ids).size).to.equal(ids.length).and.to.equal(TICKETS);
    }

    const held = await metric(RETAINED_BYTES);
    expect(held)
      .to.be.above(64 * 2 ** 20)
      .and.below(await metric('foyer_retention_limit_bytes'));
    const began = performance.now();
    const lists = await retained();
    expect(lists.map(({ list }) => list)).to.deep.equal(Array(WALKS).fill('tickets'));
    const announced = new Map(lists.map((one) => [one.snapshotId, one.goneInSeconds]));
    while (announced.size > 0) {
      const left = new Set((await retained()).map(({ snapshotId }) => snapshotId));
      const elapsed = (performance.now() - began) / 1000;
      for (const [snapshotId, goneInSeconds] of announced) {
        if (left.has(snapshotId)) continue;
        expect(elapsed, snapshotId).to.be.within(goneInSeconds, goneInSeconds + 2);
        announced.delete(snapshotId);
      }
      await delay(50);
    }
  });
});
