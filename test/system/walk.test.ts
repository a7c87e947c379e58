import { renameSync } from 'node:fs';
import { expect } from 'chai';
import { asSnapshot, restampedCopy, snapshotIdOf } from '../support/altered-snapshot.ts';
import { type Connection, connectionsToEach, MORTAL } from '../support/connections.ts';
import { build, type Import, type ImportRecord, writeImport } from '../support/import-folder.ts';
import {
  inOrganization,
  minimalEvent,
  minimalOffer,
  minimalOrder,
  minimalSession,
  minimalTicket,
} from '../support/records.ts';
import { type Answer, newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const PREVIEW = { 'Service-API-Version': 'preview' };
const PER_PAGE = [1, 2, 3, 4, 5, 6, 7];
const EXPORTS = 4;

interface Page {
  readonly items: readonly ImportRecord[];
  readonly nextPage: string | null;
}

/** Returns the `i`th instant: one hour after its predecessor. */
const at = (i: number) => new Date(Date.UTC(2026, 2, 1) + i * 3_600_000).toISOString();

/** Returns ids in descending order of their numbers. */
function down(prefix: string, count: number, isIn: (i: number) => boolean = () => true): string[] {
  return Array.from({ length: count }, (_, i) => count - 1 - i)
    .filter(isIn)
    .map((i) => `${prefix}_${i}`);
}

const SESSION_WINDOW = `startAt.gt=${at(102)}&startAt.lt=${at(109)}`;

/** The expected ids of each list, in order, in the export 0. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  '/v1/tickets': down('tkt', 13),
  '/v1/tickets?eventIds=evt_0,evt_2': down('tkt', 13, (i) => i % 3 !== 1),
  [`/v1/tickets?updatedAt.gte=${at(2)}&updatedAt.lte=${at(11)}`]: down('tkt', 13, (i) => i >= 2 && i <= 11),
  '/v1/orders': down('ord', 11),
  '/v1/orders?status=PENDING': down('ord', 11, (i) => i % 2 === 0),
  '/v1/events': down('evt', 9),
  '/v1/events?tags=odd': down('evt', 9, (i) => i % 2 === 1),
  [`/v1/events?startAt.gte=${at(3)}`]: down('evt', 9, (i) => i === 0 || i >= 3),
  '/v1/events/evt_0/sessions': down('ses', 10).toReversed(),
  [`/v1/events/evt_0/sessions?${SESSION_WINDOW}`]: down('ses', 10, (i) => i > 2 && i < 9).toReversed(),
  '/v1/catalog/offers': down('off', 8).toReversed(),
};

/**
 * Makes the `e`th of several successive exports. The export 0 has the records of `LISTS`. The others lack some of them,
 * have more at the beginning of every list, and list the rest in another order with other content.
 */
function exported(e: number): Import {
  const records = (count: number, make: (i: number) => ImportRecord) =>
    Array.from({ length: count + 3 * e }, (_, i) => i)
      .filter((i) => e === 0 || i % 4 !== e - 1 || i < 1)
      .map(make)
      .map(inOrganization('north'));
  const placed = (i: number) => at(e === 0 ? i : e % 2 === 1 ? 1000 - i : 1000 + i);
  const word = `export ${e}`;
  const durationMinutes = e;
  return {
    organizations: [{ organizationId: 'north' }],
    events: records(9, (i) =>
      minimalEvent(`evt_${i}`, { title: word, createdAt: placed(i), tags: [i % 2 === 1 ? 'odd' : 'even'] }),
    ),
    sessions: [
      ...records(9, (i) =>
        minimalSession(`only_${i}`, `evt_${i}`, { startAt: at(i), durationMinutes }),
      ).slice(1),
      ...records(10, (i) =>
        minimalSession(`ses_${i}`, 'evt_0', { startAt: at(e === 0 ? 100 + i : 300 - i), durationMinutes }),
      ),
    ],
    tickets: records(13, (i) => {
      const eventId = `evt_${(i + e) % 3}`;
      return minimalTicket(`tkt_${i}`, { offerName: word, issuedAt: placed(i), updatedAt: at(i), eventId });
    }),
    orders: records(11, (i) => {
      const status = (i + e) % 2 === 0 ? 'PENDING' : 'FULFILLED';
      return minimalOrder(`ord_${i}`, { orderNumber: word, createdAt: placed(i), status });
    }),
    offers: records(8, (i) => minimalOffer(`off_${i}`, 'PRODUCT', { name: word, createdAt: placed(i) })),
  };
}

/** Returns the id of a record, which is its first field. */
const idOf = (record: ImportRecord) => String(Object.values(record)[0]);
const pageOf = ({ text }: Answer) => JSON.parse(text) as Page;

/** One of the walks, which all take one page between two swaps. */
class Walk {
  readonly answers: Answer[] = [];
  readonly list: string;
  readonly perPage: number;
  next: string | null;

  constructor(list: string, perPage: number) {
    this.list = list;
    this.perPage = perPage;
    this.next = `${list}${list.includes('?') ? '&' : '?'}perPage=${perPage}`;
  }
}

describe('A walk over nextPage, with a swap between its pages, which two workers serve in turn,', () => {
  const inFolder = folderForAll();
  const walks = Object.keys(LISTS).flatMap((list) => PER_PAGE.map((perPage) => new Walk(list, perPage)));
  const whole = new Map<string, Page>();
  let replica: ReplicaUnderTest;
  let swaps = 0;

  before(async () => {
    for (let e = 0; e < EXPORTS; e++) {
      writeImport(inFolder(`import-${e}`), exported(e));
      await build(inFolder(`import-${e}`), inFolder(`built-${e}`));
    }
    const credential = newCredential(inFolder, 'north');
    replica = await ReplicaUnderTest.start(inFolder, { THREADS: '2', NODE_OPTIONS: MORTAL });
    await replica.waitForLog({ msg: 'keys live' });
    await swapTo(0);
    const workers = await connectionsToEach(replica, 2, 1);
    const ask = (connection: Connection, path: string) => connection.ask(path, credential, PREVIEW);
    for (const list of Object.keys(LISTS)) whole.set(list, pageOf(await ask(workers[0], list)));
    while (walks.some(({ next }) => next !== null)) {
      for (const [i, walk] of walks.entries()) {
        if (walk.next === null) continue;
        const answer = await ask(workers[(i + swaps) % 2], walk.next);
        expect(answer.status, walk.next).to.equal(200);
        walk.answers.push(answer);
        walk.next = pageOf(answer).nextPage;
      }
      const e = 1 + (swaps % 3);
      await swapTo(e);
      const { headers, text } = await ask(workers[0], '/v1/tickets');
      expect(headers['service-snapshot-id'], 'the live snapshot').to.equal(snapshotIdOf(swaps));
      expect(text).to.include(`export ${e}`);
    }
    for (const worker of workers) worker.close();
  });

  after(() => replica.end());

  /** Replaces the live snapshot by that of an export. */
  async function swapTo(e: number): Promise<void> {
    const snapshotId = snapshotIdOf(++swaps);
    renameSync(
      restampedCopy(inFolder(`built-${e}`), inFolder('draft'), asSnapshot(swaps)),
      inFolder('snapshots/north.sqlite'),
    );
    await replica.waitForLog({ msg: 'snapshot live', snapshotId });
  }

  for (const [list, ids] of Object.entries(LISTS)) {
    it(`returns each record of its snapshot exactly once: ${list}`, () => {
      expect(whole.get(list)?.items.map(idOf)).to.deep.equal(ids);
      for (const { answers, perPage } of walks.filter((walk) => walk.list === list)) {
        const what = `${perPage} a page`;
        const items = answers.flatMap((answer) => pageOf(answer).items);
        expect(items, what).to.deep.equal(whole.get(list)?.items);
        const snapshotIds = answers.map(({ headers }) => headers['service-snapshot-id']);
        expect(new Set(snapshotIds), what).to.deep.equal(new Set([snapshotIdOf(1)]));
        expect(answers, what).to.have.length(Math.ceil(ids.length / perPage));
      }
    });
  }
});
