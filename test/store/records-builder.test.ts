import { expect } from 'chai';
import fc from 'fast-check';
import { RecordsBuilder } from '../../src/store/records-builder.ts';
import { recordAt, type RecordsImage, recordSpan } from '../../src/store/records.ts';
import { byDepth } from '../support/depth.ts';
import { FIXED } from '../support/random.ts';
import { times } from '../support/records.ts';

const SLAB_BYTES = 2000;
const RECORDS = 400;
/** What a list holds is at most this multiple of what its images need. */
const FRAGMENTATION = 1.25;

/** Records by id, in the order of the list. */
type Content = ReadonlyMap<number, string>;

interface Loaded {
  readonly content: Content;
  readonly image: RecordsImage;
}

const textOf = (id: number, version: number, length: number) =>
  JSON.stringify({ id, version, more: 'x'.repeat(length) });

/**
 * Builds the records of a list, of which earlier ones have some, the live one first. Returns them, the earlier ones with
 * records where they are then, and the bytes that were copied.
 */
function build(content: Content, known: readonly Loaded[], { isDry = false, liveStays = true } = {}) {
  const bytes = sum([...content.values()].map(({ length }) => length + 1));
  const earlier = known.map(({ image }, i) => ({ records: image, stays: liveStays || i > 0 }));
  const sizes = { count: content.size, bytes, slabBytes: SLAB_BYTES, isShared: true };
  const builder = new RecordsBuilder({ ...sizes, earlier, isDry });
  const rowsOf = new Map(
    known.map((one) => [one, new Map([...one.content.keys()].map((id, row) => [id, row]))]),
  );
  for (const [row, [id, text]] of [...content].entries()) {
    const has = known.find((one) => one.content.get(id) === text);
    const other = has && rowsOf.get(has)?.get(id);
    if (has === undefined || other === undefined)
      builder.copy(row, Buffer.from(text), Uint32Array.of(0, text.length + 1));
    else builder.refer(row, has.image, other);
  }
  const image = builder.finish();
  const continued = known.map((one) => ({ ...one, image: builder.continued(one.image) }));
  return { loaded: { content, image }, earlier: continued, copiedBytes: builder.copiedBytes };
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, one) => total + one, 0);

/** Computes the bytes of the slabs of images, each once. */
const heldBy = (images: readonly Loaded[]) =>
  sum(
    new Map(
      images.flatMap(({ image }) => image.slabs.map(({ number, bytes }) => [number, bytes.length])),
    ).values(),
  );

/** Computes the bytes of the records of images, each once. */
const needOf = (images: readonly Loaded[]) =>
  sum(
    new Map(
      images.flatMap(({ content }) =>
        [...content].map(([id, text]) => [`${id} ${text}`, text.length + 1] as const),
      ),
    ).values(),
  );

/** A change of the list, as a share of its records. */
const step = fc.record({
  kind: fc.constantFrom('at random' as const, 'of one event' as const, 'the latest' as const),
  share: fc.constantFrom(0.001, 0.01, 0.1, 0.5),
  action: fc.constantFrom('change' as const, 'change' as const, 'delete' as const, 'add' as const),
  /** The image that the list goes back to, if it is in memory, in place of a change. */
  rollback: fc.option(fc.nat(3), { freq: 8 }),
  /** Which of the images are released. */
  released: fc.nat(15),
  seed: fc.nat(),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

describe(`The records of a list, in random histories (seed ${FIXED.seed})`, () => {
  /** Returns the list after a change. */
  function change(content: Content, { kind, share, action, seed }: Step, version: number): Content {
    const ids = [...content.keys()];
    const count = Math.ceil(ids.length * share);
    const at = {
      'at random': () => times(count, (i) => ids[((i + 1) * (2 * seed + 1) * 7919) % ids.length]),
      'of one event': () => ids.filter((id) => id % Math.ceil(1 / share) === 0),
      'the latest': () => ids.slice(0, count),
    };
    const chosen = ids.length === 0 ? [] : at[kind]();
    const next = new Map(content);
    const text = (id: number) => textOf(id, version, (id * 31 + version) % 60);
    if (action === 'add') {
      const added = times(count + 1, (i) => 1000 * version + i).map((id) => [id, text(id)] as const);
      return new Map(kind === 'the latest' ? [...added, ...next] : [...next, ...added]);
    }
    for (const id of chosen) {
      if (action === 'delete') next.delete(id);
      else next.set(id, text(id));
    }
    return next;
  }

  it(`are read as they are, and held in at most ${FRAGMENTATION} of the bytes that the images in memory need`, () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), (steps) => {
        let content: Content = new Map(times(RECORDS, (id) => [id, textOf(id, 0, id % 60)]));
        let images: readonly Loaded[] = [build(content, []).loaded];
        for (const [i, one] of steps.entries()) {
          const earlier = one.rollback === null ? undefined : images[one.rollback]?.content;
          content = earlier ?? change(content, one, i + 1);
          // The image that was live is released if no walk uses it.
          const liveStays = (one.released & 1) === 0;
          const dry = build(content, images, { liveStays, isDry: true });
          const next = build(content, images, { liveStays });
          expect(dry.copiedBytes).to.equal(next.copiedBytes);
          images = [next.loaded, ...next.earlier.slice(liveStays ? 0 : 1)];
          for (const { image, content: expected } of images)
            expect(times(expected.size, (row) => recordAt(image, row).toString())).to.deep.equal([
              ...expected.values(),
            ]);
          expect(heldBy(images)).to.be.at.most(needOf(images) * FRAGMENTATION + 1);
          images = images.filter((_, k) => k === 0 || ((one.released >> k) & 1) === 0);
        }
      }),
      { ...FIXED, numRuns: byDepth({ short: 60, deep: 2000 }) },
    );
  });

  for (const kind of ['at random', 'of one event', 'the latest'] as const) {
    it(`stay adjacent, and are copied a little at a time, when 1 % change again and again: ${kind}`, () => {
      let content: Content = new Map(times(5000, (id) => [id, textOf(id, 0, 20)]));
      let { loaded } = build(content, []);
      const all = sum([...content.values()].map(({ length }) => length + 1));
      for (let version = 1; version <= 100; version++) {
        const seed = version * 104_729;
        content = change(
          content,
          { kind, share: 0.01, action: 'change', rollback: null, released: 0, seed },
          version,
        );
        const next = build(content, [loaded]);
        expect(next.copiedBytes / all, 'copied at once').to.be.below(0.25);
        ({ loaded } = next);
      }
      const pages = times(content.size / 25, (page) => recordSpan(loaded.image, page * 25, (page + 1) * 25));
      expect(sum(pages.map(({ length }) => length)) / pages.length, 'views of a page').to.be.below(8);
      expect(loaded.image.slabs.length).to.be.below((2 * all) / SLAB_BYTES + 64);
    });
  }
});
