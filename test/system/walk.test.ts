import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import {
  inOrganization,
  minimalEvent,
  minimalOffer,
  minimalOrder,
  minimalSession,
  minimalTicket,
} from '../support/records.ts';
import { build, type Import, type ImportRecord, writeImport } from '../support/import-folder.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { asSnapshot, restampedCopy, snapshotIdOf } from './altered-snapshot.ts';
import { type Answer, newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';

const PREVIEW = { 'Service-API-Version': 'preview' };
const PER_PAGE = [1, 2, 3, 4, 5, 6, 7];
const UNKNOWN_DIGEST = 'A'.repeat(43);

interface Page {
  readonly items: readonly ImportRecord[];
  readonly nextPage: string | null;
}

/** Returns the `i`th instant: one hour after its predecessor. */
const at = (i: number) => new Date(Date.UTC(2026, 2, 1) + i * 3_600_000).toISOString();

/** The expected ids of each list, in order, in the export 0. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  '/v1/tickets': down('tkt', 13, () => true),
  '/v1/tickets?eventIds=evt_0,evt_2': down('tkt', 13, (i) => i % 3 !== 1),
  [`/v1/tickets?updatedAt.gte=${at(2)}&updatedAt.lte=${at(11)}`]: down('tkt', 13, (i) => i >= 2 && i <= 11),
  '/v1/orders': down('ord', 11, () => true),
  '/v1/orders?status=PENDING': down('ord', 11, (i) => i % 2 === 0),
  '/v1/events': down('evt', 9, () => true),
  '/v1/events?tags=odd': down('evt', 9, (i) => i % 2 === 1),
  [`/v1/events?startAt.gte=${at(3)}`]: down('evt', 9, (i) => i === 0 || i >= 3),
  '/v1/events/evt_0/sessions': down('ses', 10, () => true).toReversed(),
  [`/v1/events/evt_0/sessions?startAt.gt=${at(102)}&startAt.lt=${at(109)}`]: down(
    'ses',
    10,
    (i) => i > 2 && i < 9,
  ).toReversed(),
  '/v1/catalog/offers': down('off', 8, () => true).toReversed(),
};

function down(prefix: string, count: number, isIn: (i: number) => boolean): string[] {
  return Array.from({ length: count }, (_, i) => count - 1 - i)
    .filter(isIn)
    .map((i) => `${prefix}_${i}`);
}

/**
 * Makes the `e`th of several successive exports. The export 0 has the records of `LISTS`. The others lack some of them,
 * have more at the beginning of every list, and list the rest in another order with other content.
 */
function exported(e: number): Import {
  const kept = (count: number) =>
    Array.from({ length: count + 3 * e }, (_, i) => i).filter((i) => e === 0 || i % 4 !== e - 1 || i < 1);
  const placed = (i: number) => at(e === 0 ? i : e % 2 === 1 ? 1000 - i : 1000 + i);
  const word = `export ${e}`;
  const all: Import = {
    events: kept(9).map((i) =>
      minimalEvent(`evt_${i}`, { title: word, createdAt: placed(i), tags: [i % 2 === 1 ? 'odd' : 'even'] }),
    ),
    sessions: [
      ...kept(9)
        .filter((i) => i > 0)
        .map((i) => minimalSession(`only_${i}`, `evt_${i}`, { startAt: at(i), durationMinutes: e })),
      ...kept(10).map((i) =>
        minimalSession(`ses_${i}`, 'evt_0', { startAt: at(e === 0 ? 100 + i : 300 - i), durationMinutes: e }),
      ),
    ],
    tickets: kept(13).map((i) =>
      minimalTicket(`tkt_${i}`, {
        offerName: word,
        issuedAt: placed(i),
        updatedAt: at(i),
        eventId: `evt_${(i + e) % 3}`,
      }),
    ),
    orders: kept(11).map((i) =>
      minimalOrder(`ord_${i}`, {
        orderNumber: word,
        createdAt: placed(i),
        status: (i + e) % 2 === 0 ? 'PENDING' : 'FULFILLED',
      }),
    ),
    offers: kept(8).map((i) => minimalOffer(`off_${i}`, 'PRODUCT', { name: word, createdAt: placed(i) })),
  };
  const both = Object.entries(all).map(([name, records]) => [
    name,
    ['north', 'south'].flatMap((id) =>
      // The currencies differ, so that the content digests of north and south do.
      (records as ImportRecord[]).map((record) =>
        inOrganization(id)({ ...record, currency: id === 'north' ? 'EUR' : 'JPY' }),
      ),
    ),
  ]);
  return {
    organizations: ['north', 'south'].map((id) => ({ organizationId: id, name: id })),
    ...Object.fromEntries(both),
  } as Import;
}

const EXPORTS = [0, 1, 2, 3];

/** Returns the id of a record, which is its first field. */
const idOf = (record: ImportRecord) => String(Object.values(record)[0]);
const pageOf = ({ text }: Answer) => JSON.parse(text) as Page;
const snapshotOf = ({ headers }: Answer) => headers['service-snapshot-id'];

describe('A walk over nextPage', () => {
  const inFolder = folderForAll();
  let built = '';

  before(async () => {
    built = inFolder('export');
    for (const e of EXPORTS) {
      writeImport(inFolder(`import-${e}`), exported(e));
      await build(inFolder(`import-${e}`), `${built}-${e}`);
    }
  });

  /** Starts a replica without a snapshot. Returns it with functions to swap and to request. */
  async function stage(name: string, environment: Readonly<Record<string, string>>) {
    const inStage = (file: string) => inFolder(`${name}-${file}`);
    mkdirSync(inStage('snapshots'));
    const credentials = { north: newCredential(inStage, 'north'), south: newCredential(inStage, 'south') };
    const replica = await ReplicaUnderTest.start(inStage, environment);
    let latest = 0;
    /** Replaces the live snapshot by that of an export. Returns its id. */
    const swapTo = async (e: number): Promise<string> => {
      const snapshotId = snapshotIdOf(++latest);
      const draft = restampedCopy(`${built}-${e}`, inStage('draft'), asSnapshot(latest));
      renameSync(draft, join(inStage('snapshots'), 'pair.sqlite'));
      await replica.waitForLog({ msg: 'snapshot live', snapshotId });
      return snapshotId;
    };
    const ask = (path: string, organizationId: keyof typeof credentials = 'north') =>
      replica.request(path, credentials[organizationId], PREVIEW);
    return { replica, swapTo, ask };
  }

  describe('with a swap between its pages', () => {
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

      get records(): ImportRecord[] {
        return this.answers.flatMap((answer) => pageOf(answer).items);
      }
    }

    const walks = Object.keys(LISTS).flatMap((list) => PER_PAGE.map((perPage) => new Walk(list, perPage)));
    const whole = new Map<string, Page>();
    const liveIds: string[] = [];

    before(async () => {
      const { replica, swapTo, ask } = await stage('all', {});
      try {
        liveIds.push(await swapTo(0));
        for (const list of Object.keys(LISTS)) whole.set(list, pageOf(await ask(list)));
        for (let round = 0; walks.some(({ next }) => next !== null); round++) {
          for (const walk of walks) {
            if (walk.next === null) continue;
            const answer = await ask(walk.next);
            expect(answer.status, walk.next).to.equal(200);
            walk.answers.push(answer);
            walk.next = pageOf(answer).nextPage;
          }
          liveIds.push(await swapTo(1 + (round % 3)));
          const { headers, text } = await ask('/v1/tickets');
          expect(headers['service-snapshot-id'], 'the live snapshot').to.equal(liveIds.at(-1));
          expect(text).to.include(`export ${1 + (round % 3)}`);
        }
      } finally {
        await replica.end();
      }
    });

    for (const [list, ids] of Object.entries(LISTS)) {
      it(`returns each record of its snapshot exactly once: ${list}`, () => {
        expect(whole.get(list)?.items.map(idOf)).to.deep.equal(ids);
        for (const walk of walks.filter((one) => one.list === list)) {
          const what = `${walk.perPage} a page`;
          expect(walk.records.map(idOf), what).to.deep.equal(ids);
          expect(walk.records, what).to.deep.equal(whole.get(list)?.items);
          expect(walk.answers.map(snapshotOf), what).to.deep.equal(walk.answers.map(() => liveIds[0]));
          expect(walk.answers, what).to.have.length(Math.ceil(ids.length / walk.perPage));
        }
      });
    }
  });

  it('waits for data that another replica has loaded earlier', async () => {
    const [first, second] = [await stage('first', {}), await stage('second', {})];
    try {
      for (const { swapTo } of [first, second]) await swapTo(0);
      await first.swapTo(1);
      const page = pageOf(await first.ask('/v1/tickets?perPage=3'));
      const { pathname, search } = new URL(page.nextPage ?? '');
      const early = await second.ask(pathname + search);
      expect([early.status, early.headers['retry-after']]).to.deep.equal([429, '1']);
      await second.replica.waitForMetric('foyer_pinned_requests_total{outcome="not-loaded"}', 1);
      await second.swapTo(1);
      const later = await second.ask(pathname + search);
      expect(later.status).to.equal(200);
      expect(pageOf(later).items).to.deep.equal(pageOf(await first.ask(pathname + search)).items);
    } finally {
      await Promise.all([first, second].map(({ replica }) => replica.end()));
    }
  });

  describe('whose snapshot is not retained', () => {
    let replica: ReplicaUnderTest;
    let swapTo: (e: number) => Promise<string>;
    let ask: (path: string, organizationId?: 'north' | 'south') => Promise<Answer>;

    before(async () => {
      ({ replica, swapTo, ask } = await stage('short', { SNAPSHOT_RETAIN_SECONDS: '0' }));
      await swapTo(0);
    });

    after(() => replica.end());

    /** Returns the retained stores that the status lists. */
    async function retained(): Promise<readonly unknown[]> {
      const { text } = await replica.requestAdmin('/status');
      return (JSON.parse(text) as { retained: unknown[] }).retained;
    }

    it('ends with 400 at query.snapshot, never with other data', async () => {
      const link = pageOf(await ask('/v1/tickets?perPage=3')).nextPage ?? '';
      await swapTo(1);
      // The registry releases the store within its interval, and the workers show that a message later.
      while ((await retained()).length > 0) await delay(10);
      let answer = await ask(link);
      while (answer.status === 200) {
        expect(answer.text).to.include('export 0').and.not.include('export 1');
        answer = await ask(link);
      }
      expect(answer.status).to.equal(400);
      const { errors } = JSON.parse(answer.text) as { errors: { loc: string }[] };
      expect(errors.map(({ loc }) => loc)).to.deep.equal(['query.snapshot']);
      await replica.waitForMetric('foyer_pinned_requests_total{outcome="gone"}', 1);
    });

    it('treats the content digest of another organization as an unknown one', async () => {
      await swapTo(2);
      const link = pageOf(await ask('/v1/tickets?perPage=3', 'south')).nextPage ?? '';
      expect(link).to.match(/&snapshot=[\w-]{43}$/);
      const [foreign, unknown] = [await ask(link), await ask(link.replace(/[\w-]{43}$/, UNKNOWN_DIGEST))];
      expect(foreign.status).to.equal(429);
      expect(foreign.text).to.equal(unknown.text);
    });

    for (const digest of [
      '',
      'x',
      UNKNOWN_DIGEST.slice(1),
      `${UNKNOWN_DIGEST}A`,
      `${UNKNOWN_DIGEST.slice(1)}!`,
      '%00',
    ]) {
      it(`gets 400 when the link has the malformed digest "${digest}"`, async () => {
        const { status, text } = await ask(`/v1/tickets?page=2&snapshot=${digest}`);
        expect(status).to.equal(400);
        const { errors } = JSON.parse(text) as { errors: { loc: string }[] };
        expect(errors.map(({ loc }) => loc)).to.deep.equal(['query.snapshot']);
      });
    }
  });
});
