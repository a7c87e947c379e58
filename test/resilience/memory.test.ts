import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { bytesInUse, memoryNeed } from '../../src/snapshot/admission/memory.ts';
import { inspectSnapshot } from '../../src/snapshot/format/open-snapshot.ts';
import { MEGABYTE } from '../../src/store/memory/shared-arrays.ts';
import { byDepth } from '../support/depth.ts';
import { buildFile } from '../support/import-folder.ts';
import {
  MARK,
  MARKED_IMPORT,
  type MarkedReplica,
  markedReplicaForAll,
  numberOf,
} from '../support/marked-replica.ts';
import { inOrganization, minimalTicket, times } from '../support/records.ts';

const SWAPS = byDepth({ short: 14, deep: 50 });
/** The limit has room for a load, the live data, and some seven replaced snapshots of this size. */
const TICKETS = 5000;
const LIMIT_MB = 296;
/** Bound of the resident memory. It includes freed memory that the next load reuses; the limit does not. */
const MAX_RESIDENT_MB = 1.5 * LIMIT_MB;
const PER_PAGE = 100;
/** Pages of each walk between two swaps. A walk takes more than seven swaps. */
const PAGES_PER_SWAP = 4;
const RETAINED_BYTES = 'foyer_store_bytes{state="retained"}';
/** Latest walks whose snapshots are certainly retained. */
const RETAINED = 4;

interface Page {
  readonly items: readonly { readonly ticketId: string }[];
  readonly nextPage: string | null;
}

/** A walk over the tickets, page by page. */
class Walk {
  readonly #replica: MarkedReplica;
  readonly #ids: string[] = [];
  readonly #snapshots = new Set<number>();
  next: string | null = `/v1/tickets?perPage=${PER_PAGE}`;
  /** Whether the snapshot was gone before the last page. */
  isEnded = false;

  constructor(replica: MarkedReplica) {
    this.#replica = replica;
  }

  async step(): Promise<void> {
    if (this.next === null) return;
    const answer = await this.#replica.ask(this.next);
    this.isEnded = answer.status === 400;
    if (!this.isEnded) this.#snapshots.add(numberOf(answer, this.next));
    const { items, nextPage } = this.isEnded ? END : (JSON.parse(answer.text) as Page);
    this.#ids.push(...items.map(({ ticketId }) => ticketId));
    this.next = nextPage;
  }

  /** Expects all pages to be from one snapshot, and after the last page each ticket once. */
  expectWhole(): void {
    expect(this.#snapshots.size).to.equal(1);
    const isComplete = this.next === null && !this.isEnded;
    if (isComplete) expect(new Set(this.#ids).size).to.equal(this.#ids.length).and.to.equal(TICKETS);
  }
}
const END: Page = { items: [], nextPage: null };

/** Returns an import whose tickets have names of a length. */
function importOf(length: number, tickets = TICKETS) {
  const offerName = `${MARK} ${'x'.repeat(length)}`;
  const ticket = (i: number) => minimalTicket(`tkt_${i}`, { offerName, orderId: `ord_${i}` });
  return { ...MARKED_IMPORT, tickets: times(tickets, ticket).map(inOrganization('north')) };
}

interface Status {
  readonly retained: readonly {
    readonly snapshotId: string;
    readonly list: string;
    readonly goneInSeconds: number;
  }[];
}

describe('A replica at its memory limit', () => {
  const replica = markedReplicaForAll(importOf(0));

  it(`swaps ${SWAPS} times during walks, and releases the data of the oldest walks for the next load`, async () => {
    const process = await replica.start({ MEMORY_LIMIT_MB: String(LIMIT_MB) });
    const walks: Walk[] = [];
    const resident: number[] = [];
    for (let n = 1; n <= SWAPS; n++) {
      if (n > 1) await replica.publish();
      resident.push((await process.metric('process_resident_memory_bytes')) / 2 ** 20);
      // What is released depends on the uses until then.
      const retained = () => process.metric(RETAINED_BYTES);
      while ((await retained()) > (await process.metric('foyer_retention_limit_bytes'))) await delay(50);
      walks.push(new Walk(replica));
      for (const walk of walks) for (let i = 0; i < PAGES_PER_SWAP; i++) await walk.step();
    }
    expect(Math.max(...resident), 'resident memory, MB').to.be.below(MAX_RESIDENT_MB);
    const latest = walks.slice(-RETAINED);
    while (latest.some(({ next }) => next !== null)) for (const walk of latest) await walk.step();
    for (const walk of walks) walk.expectWhole();
    const ended = walks.map(({ isEnded }) => isEnded);
    expect(ended, 'a walk whose snapshot was released').to.include(true);
    expect(ended.slice(-RETAINED)).to.deep.equal(Array(RETAINED).fill(false));
  });
});

describe('A replica whose limit leaves too little memory for the data twice', () => {
  const MANY_TICKETS = 20_000;
  const replica = markedReplicaForAll(importOf(2000, MANY_TICKETS));
  const { inFolder } = replica;

  it('refuses a snapshot that shares no record, and swaps one that changes each hundredth', async () => {
    const live = inFolder('snapshots/north.sqlite');
    const ids = times(MANY_TICKETS, (i) => `tkt_${i}`).sort();
    const changes = ids
      .filter((_, i) => i % 100 === 0)
      .map((id) => minimalTicket(id, { offerName: 'changed' }));
    const files = { tickets: changes.map(inOrganization('north')) };
    await buildFile(files, inFolder('changed'), { base: live });
    const [before, after] = [live, inFolder('changed')].map((file) => inspectSnapshot(file).organizations);
    const { held } = memoryNeed(before);
    // A load copies the changes, and moves 32 times their bytes. The places of the live list are copied, too.
    const { peak } = memoryNeed(after, new Set(), 4 * MEGABYTE);
    const limit = Math.ceil((bytesInUse(held, 1, 1) + peak) / MEGABYTE);
    const process = await replica.start({ MEMORY_LIMIT_MB: String(limit) });

    replica.place();
    expect(await process.waitForLog({ msg: 'snapshot refused' })).to.include({ reason: 'memory' });
    replica.place(inFolder('changed'));
    const from = process.log.length;
    await process.waitForLog({ msg: 'snapshot live' }, from);
    const names = await Promise.all(
      [ids[0], ids[MANY_TICKETS - 1]].map(async (id) => {
        const { text } = await replica.ask(`/v1/tickets/${id}`);
        return (JSON.parse(text) as { readonly offerName: string }).offerName;
      }),
    );
    expect(names[0]).to.equal('changed');
    expect(names[1]).to.match(/^mark-0001 x+$/);
  });
});

describe('A replica with free memory', () => {
  const WALKS = 10;
  const RETAIN_SECONDS = 8;
  // Ten replaced snapshots hold several times the memory of the live one.
  const replica = markedReplicaForAll(importOf(2000));

  it(`keeps the data of ${WALKS} walks of an organization until its announced end, each from another snapshot`, async () => {
    const process = await replica.start({ SNAPSHOT_RETAIN_SECONDS: String(RETAIN_SECONDS) });
    const walks: Walk[] = [];
    for (let n = 1; n <= WALKS; n++) {
      walks.push(new Walk(replica));
      for (const walk of walks) await walk.step();
      await replica.publish();
    }
    while (walks.some(({ next }) => next !== null)) for (const walk of walks) await walk.step();
    for (const walk of walks) {
      expect(walk.isEnded).to.equal(false);
      walk.expectWhole();
    }

    const held = await process.metric(RETAINED_BYTES);
    const limit = await process.metric('foyer_retention_limit_bytes');
    expect(held).to.be.within(64 * 2 ** 20, limit);
    const began = performance.now();
    const retained = async () => (await process.status<Status>()).retained;
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
