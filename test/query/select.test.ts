import { expect } from 'chai';
import type { Predicate } from '../../src/query/plan.ts';
import { rowsAt, select, selectInSpan, totalOf } from '../../src/query/select.ts';
import { SelectionCache } from '../../src/query/selection-cache.ts';
import { buildInstantIndex } from '../../src/store/index/instant-index.ts';
import { compositeName, PostingIndexBuilder } from '../../src/store/index/posting-index.ts';
import type { CollectionImage } from '../../src/store/organization-image.ts';
import { emptyCollection } from '../support/empty-image.ts';
import { encodeTexts } from '../support/encode-texts.ts';
import { times } from '../support/records.ts';

const COUNT = 1000;
const BY_ROW = {
  eventId: (row: number) => [...new Set([`e${row % 5}`, ...(row % 3 === 0 ? [`e${row % 7}`] : [])])],
  status: (row: number) => [row % 4 === 0 ? 'PENDING' : 'FULFILLED'],
  email: (row: number) => [`m${row % 400}`],
};
const INSTANTS = {
  updatedAt: (row: number) => BigInt((row * 37) % COUNT),
  createdAt: (row: number) => BigInt((row * 101) % COUNT),
};

/** Returns a collection with the values of each row, with posting lists in the order of `updatedAt`. */
function collection(): CollectionImage {
  const index = (keysOf: (row: number) => readonly string[]) => {
    const builder = new PostingIndexBuilder();
    const keys = times(COUNT, keysOf);
    let end = 0;
    const ends = Uint32Array.from(keys, ({ length }) => (end += length));
    builder.addLists(0, encodeTexts(keys.flat()), ends);
    return builder;
  };
  const [eventId, status, email] = Object.values(BY_ROW).map(index);
  const builders = {
    eventId,
    status,
    email,
    [compositeName('eventId', 'status')]: eventId.crossedWith(status),
  };
  const [updatedAt, createdAt] = Object.values(INSTANTS).map((at) =>
    buildInstantIndex(BigInt64Array.from(times(COUNT, at))),
  );
  const postings = Object.fromEntries(
    Object.entries(builders).map(([name, builder]) => [name, builder.finish(['updatedAt', updatedAt.rows])]),
  );
  return { ...emptyCollection('orderId'), count: COUNT, postings, instants: { updatedAt, createdAt } };
}

function passes(row: number, predicate: Predicate): boolean {
  if (predicate.match === 'anyOf')
    return BY_ROW[predicate.index as keyof typeof BY_ROW](row).some((key) => predicate.keys.includes(key));
  const at = INSTANTS[predicate.index as keyof typeof INSTANTS](row);
  return at >= (predicate.from ?? at) && at < (predicate.until ?? at + 1n);
}

const anyOf = (index: string, ...keys: string[]): Predicate => ({ match: 'anyOf', index, keys });
const window = (index: string, from: bigint, until: bigint): Predicate => {
  return { match: 'window', index, from, until };
};

const [event, events] = [anyOf('eventId', 'e0'), anyOf('eventId', 'e0', 'e1', 'e6', 'none')];
const fulfilled = anyOf('status', 'FULFILLED');
const updated = window('updatedAt', 100n, 900n);
/** Each may be in a query, or none of a line. */
const CHOICES: readonly (readonly Predicate[])[] = [
  [event, events, anyOf('eventId', 'none')],
  [fulfilled, anyOf('status', 'FULFILLED', 'PENDING')],
  [anyOf('email', 'm0', 'm35', 'm399')],
  [updated, window('updatedAt', 0n, 1000n), window('updatedAt', 9n, 3n), window('updatedAt', 5n, 9n)],
  [window('createdAt', 100n, 900n)],
];
const QUERIES = CHOICES.reduce<(readonly Predicate[])[]>(
  (queries, choice) => queries.flatMap((query) => [query, ...choice.map((one) => [...query, one])]),
  [[]],
);

describe('A selection', () => {
  const image = collection();

  it('has the rows that pass every predicate, whatever the predicates and their order, also from the cache', () => {
    const cache = new SelectionCache(24 * 1024);
    for (const where of [...QUERIES, ...QUERIES.map((query) => query.toReversed()), ...QUERIES]) {
      const expected = [...Array(COUNT).keys()].filter((row) => where.every((one) => passes(row, one)));
      const selection = select(image, where, cache);
      const about = where.map(({ index }) => index).join();
      expect(totalOf(selection), about).to.equal(expected.length);
      expect([...rowsAt(selection, 0, expected.length)], about).to.deep.equal(expected);
    }
    expect(cache.bytes).to.be.within(1, 24 * 1024);
  });

  for (const [what, where, kind, isCached] of [
    ['no predicate', [], 'span', false],
    ['one key', [event], 'list', false],
    ['one window', [updated], 'ranges', false],
    ['one key and one window', [event, updated], 'ranges', false],
    ['several keys', [events], 'ranges', true],
    ['several keys and one window', [events, updated], 'ranges', true],
    ['keys of a pair and one window', [events, fulfilled, updated], 'ranges', true],
    ['other combinations', [event, anyOf('email', 'm0', 'm5')], 'list', true],
  ] as const) {
    it(`of ${what} has the form "${kind}", ${isCached ? 'and' : 'not'} cached`, () => {
      const cache = new SelectionCache(24 * 1024);
      expect(select(image, where, cache).kind).to.equal(kind);
      expect(cache.bytes > 0).to.equal(isCached);
    });
  }
});

describe('A selection in a span', () => {
  const inSpan = (...where: Predicate[]) =>
    selectInSpan(BigInt64Array.of(1n, 2n, 3n), 'startAt', 0, 3, where);

  it('has the rows of the window', () => {
    expect(inSpan(window('startAt', 2n, 9n))).to.deep.equal({ kind: 'span', from: 1, to: 3 });
  });

  it('refuses a predicate that it cannot apply', () => {
    expect(() => inSpan(anyOf('startAt', '1'))).to.throw(TypeError);
    expect(() => inSpan(window('updatedAt', 2n, 9n))).to.throw(TypeError);
  });
});
