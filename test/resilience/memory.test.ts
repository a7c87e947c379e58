import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { byDepth } from '../support/depth.ts';
import { MARK, markedImport, MarkedSnapshots, marksIn } from '../support/marked-snapshots.ts';
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

describe('A replica at its memory limit', () => {
  const inFolder = folderForAll();
  let snapshots: MarkedSnapshots;
  let replica: ReplicaUnderTest;
  let credential: string;

  before(async () => {
    const tickets = times(TICKETS, (i) =>
      inOrganization('north')(minimalTicket(`tkt_${i}`, { offerName: MARK, orderId: `ord_${i}` })),
    );
    snapshots = await MarkedSnapshots.build(inFolder, [{ ...markedImport(['north'], 0), tickets }]);
    credential = newCredential(inFolder, 'north');
    replica = await ReplicaUnderTest.start(inFolder, { MEMORY_LIMIT_MB: String(LIMIT_MB) });
    await replica.waitForLog({ msg: 'keys live' });
  });

  after(() => replica.end());

  /** Publishes the `n`th snapshot. Returns the resident memory after the swap, in megabytes. */
  async function swap(n: number): Promise<number> {
    const refused = replica.waitForLog({ msg: 'snapshot refused' });
    expect(await Promise.race([snapshots.publish(replica, n), refused])).to.equal(undefined);
    return (await replica.metric('process_resident_memory_bytes')) / 2 ** 20;
  }

  /** Waits until no more data is retained than the limit permits. What is released depends on the uses until then. */
  async function released(): Promise<void> {
    const metric = (name: string) => replica.metric(name);
    while ((await metric(RETAINED_BYTES)) > (await metric('foyer_retention_limit_bytes'))) await delay(50);
  }

  it(`swaps ${SWAPS} times during walks, and releases the data of the oldest walks for the next load`, async () => {
    const walks: Walk[] = [];
    const resident: number[] = [];
    for (let n = 1; n <= SWAPS; n++) {
      resident.push(await swap(n));
      await released();
      walks.push(new Walk());
      for (const walk of walks) for (let i = 0; i < PAGES_PER_SWAP; i++) await walk.step(replica, credential);
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
