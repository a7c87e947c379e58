import { expect } from 'chai';
import { Random } from '../../scripts/sample/random.ts';
import type { Predicate } from '../../src/query/plan.ts';
import { resolve } from '../../src/query/resolve.ts';
import { rowsAt, select, totalOf } from '../../src/query/select.ts';
import { SelectionCache } from '../../src/query/selection-cache.ts';
import { buildInstantIndex, instantImage } from '../../src/store/index/instant-index.ts';
import { compositeName, PostingIndexBuilder } from '../../src/store/index/posting-index.ts';
import { encodeTexts } from '../support/encode-texts.ts';
import type { CollectionImage } from '../../src/store/organization-image.ts';
import { emptyCollection } from '../support/empty-image.ts';
import { times } from '../support/records.ts';

const SEEDS = [20261121, 1, 2, 3];
const QUERIES = 1500;
/** Small enough that selections are evicted all the time. */
const CACHE_BYTES = 24 * 1024;

interface Row {
  readonly events: readonly string[];
  readonly status: string;
  readonly email: string;
  readonly updatedAt: bigint;
  readonly createdAt: bigint;
  readonly starts: readonly bigint[];
}

/** Rows with skewed keys: a few keys have most rows, as the first of `pick` do. Many rows share the same set of events. */
function randomRows(random: Random, count: number): Row[] {
  const pick = (name: string, most: number) =>
    `${name}${random.chance(0.7) ? random.below(Math.min(4, most)) : random.below(most)}`;
  const events = (length: number) => [...new Set(times(length, () => pick('e', 12)))];
  const packages = times(4, () => events(3));
  return times(count, () => ({
    events: random.chance(0.3) ? random.pick(packages) : events(random.pick([0, 1, 1, 1, 2, 3])),
    status: random.chance(0.9) ? 'FULFILLED' : random.pick(['PENDING', 'CANCELLED']),
    email: pick('m', 400),
    updatedAt: BigInt(random.below(count)),
    createdAt: BigInt(random.below(count)),
    starts: times(random.pick([1, 1, 2, 5]), () => BigInt(random.below(count))),
  }));
}

function imageOf(rows: readonly Row[]): CollectionImage {
  const index = (keysOf: (row: Row) => readonly string[]) => {
    const builder = new PostingIndexBuilder();
    const keys = rows.map(keysOf);
    builder.addLists(
      0,
      encodeTexts(keys.flat()),
      Uint32Array.from(keys, ({ length }) => length),
    );
    return builder;
  };
  const builders = {
    eventId: index(({ events }) => events),
    status: index(({ status }) => [status]),
    email: index(({ email }) => [email]),
  };
  const all = {
    ...builders,
    [compositeName('eventId', 'status')]: builders.eventId.crossedWith(builders.status),
  };
  const updatedAt = buildInstantIndex(BigInt64Array.from(rows, (row) => row.updatedAt));
  const createdAt = buildInstantIndex(BigInt64Array.from(rows, (row) => row.createdAt));
  const starts = BigInt64Array.from(rows.flatMap((row) => row.starts));
  const startAt = instantImage(
    starts,
    rows.flatMap((row, i) => row.starts.map(() => i)),
  );
  const postings = Object.fromEntries(
    Object.entries(all).map(([name, builder]) => [name, builder.finish(['updatedAt', updatedAt.rows])]),
  );
  const instants = { updatedAt, createdAt, startAt };
  return { ...emptyCollection('orderId'), count: rows.length, postings, instants };
}

function randomPredicates(random: Random, count: number): Predicate[] {
  const anyOf = (index: string, key: () => string): Predicate => {
    const keys = [...new Set(times(random.pick([1, 1, 2, 4, 10]), key))];
    return { match: 'anyOf', index, keys };
  };
  const key = (name: string, most: number) => () => `${name}${random.below(random.pick([4, most]))}`;
  const window = (index: string): Predicate => {
    // Few different bounds, so that queries repeat; some cross, and some hold all rows.
    const at = () => BigInt(random.pick([-1, 0, 10, Math.floor(count / 3), Math.floor(count / 2), count]));
    const from = random.chance(0.8) && { from: at() };
    return { match: 'window', index, ...from, ...(random.chance(0.8) && { until: at() }) };
  };
  const where: Predicate[] = [];
  if (random.chance(0.6)) where.push(anyOf('eventId', key('e', 13)));
  if (random.chance(0.4)) where.push(anyOf('status', () => random.pick(['FULFILLED', 'PENDING'])));
  if (random.chance(0.3)) where.push(anyOf('email', key('m', 400)));
  if (random.chance(0.6)) where.push(window('updatedAt'));
  if (random.chance(0.1)) where.push(window('createdAt'));
  if (random.chance(0.1)) where.push(window('startAt'));
  return random.chance(0.5) ? where : where.reverse();
}

function passes(row: Row, predicate: Predicate): boolean {
  if (predicate.match === 'window') {
    const { index, from, until } = predicate;
    const instants =
      { updatedAt: [row.updatedAt], createdAt: [row.createdAt], startAt: row.starts }[index] ?? [];
    return instants.some((at) => (from === undefined || at >= from) && (until === undefined || at < until));
  }
  const values = { eventId: row.events, status: [row.status], email: [row.email] }[predicate.index] ?? [];
  return values.some((value) => predicate.keys.includes(value));
}

describe('A selection', () => {
  for (const seed of SEEDS) {
    for (const count of [0, 1, 40, 900, 2500]) {
      it(`holds the rows that a full scan finds, for any query over ${count} rows (seed ${seed})`, () => {
        const random = new Random(seed * 10_000 + count);
        const rows = randomRows(random, count);
        const image = imageOf(rows);
        const cache = new SelectionCache(CACHE_BYTES);
        for (let i = 0; i < (count > 900 ? QUERIES / 3 : QUERIES); i++) {
          const where = randomPredicates(random, count);
          const expected = [...rows.keys()].filter((row) =>
            where.every((predicate) => passes(rows[row], predicate)),
          );
          const selection = select(image, where, cache);
          const about = JSON.stringify(where, (_, value: unknown) =>
            typeof value === 'bigint' ? String(value) : value,
          );
          expect(totalOf(selection), about).to.equal(expected.length);
          const start = random.below(expected.length + 1);
          const end = Math.min(expected.length, start + random.pick([1, 25, 100]));
          expect([...rowsAt(selection, start, end)], about).to.deep.equal(expected.slice(start, end));
        }
        expect(cache.bytes).to.be.at.most(CACHE_BYTES);
      });
    }
  }

  describe('over 1000 rows', () => {
    const image = imageOf(randomRows(new Random(1), 1000));
    const anyOf = (index: string, ...keys: string[]): Predicate => ({ match: 'anyOf', index, keys });
    const window: Predicate = { match: 'window', index: 'updatedAt', from: 100n, until: 900n };
    const [key, keys] = [anyOf('eventId', 'e0'), anyOf('eventId', 'e0', 'e1', 'e2')];

    it('reads a pair index instead of the two single indexes, and no other index', () => {
      const where = [
        anyOf('status', 'FULFILLED'),
        anyOf('email', 'm0'),
        anyOf('eventId', 'e0', 'e1', 'none'),
      ];
      const indexesOf = (predicates: Predicate[]) =>
        resolve(image, predicates)?.keySets.map(({ index }) => index);
      expect(indexesOf(where)).to.deep.equal([compositeName('eventId', 'status'), 'email']);
      expect(indexesOf(where.slice(0, 2))).to.deep.equal(['status', 'email']);
    });

    it('is all rows without a predicate, and the posting list of one key, neither of them cached', () => {
      const cache = new SelectionCache(CACHE_BYTES);
      expect(select(image, [], cache)).to.deep.equal({ kind: 'span', from: 0, to: 1000 });
      const ofKey = select(image, [key], cache);
      expect(ofKey.kind === 'list' && ofKey.rows.buffer).to.equal(image.postings['eventId'].rows.buffer);
      expect(cache.bytes).to.equal(0);
    });

    for (const [what, where, isCached] of [
      ['one window', [window], false],
      ['one key and one window', [key, window], false],
      ['several keys', [keys], true],
      ['several keys and one window', [keys, window], true],
    ] as const) {
      it(`is read from ranges for ${what}, ${isCached ? 'and' : 'not'} cached`, () => {
        const cache = new SelectionCache(CACHE_BYTES);
        const selection = select(image, where, cache);
        if (selection.kind !== 'ranges') throw new TypeError(selection.kind);
        expect(selection.ranges).not.to.have.length(0);
        if (!isCached) expect(selection.listed).to.have.length(0);
        expect(cache.bytes > 0).to.equal(isCached);
      });
    }

    it('relies on an index by instant for long posting lists alone', () => {
      const { postings } = imageOf(randomRows(new Random(1), 128));
      expect(postings['status']).not.to.have.property('byInstant');
      expect(image.postings['status']).to.have.property('byInstant');
    });
  });
});
