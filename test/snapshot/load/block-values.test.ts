import { expect } from 'chai';
import fc from 'fast-check';
import { type BlockColumn, decodeBlock } from '../../../src/snapshot/load/block-values.ts';
import { decodeText, type Texts } from '../../../src/store/index/texts.ts';
import { FIXED } from '../../support/random.ts';

const textOver = (...units: string[]) => fc.string({ unit: fc.constantFrom(...units) });
const plain = textOver('a', 'é', '𝕏', ',', '[', ']', ' ');
const escaped = textOver('a', 'é', '𝕏', '"', '\\', '\0', '\n', ',', '[', ']', ' ');

const bounds = [0n, 2n ** 32n, 2n ** 53n, 2n ** 63n - 1n].flatMap((n) => [n, -n, -n - 1n]);
const instant = fc.oneof(fc.constantFrom(...bounds), fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }));

const KINDS = ['text', 'list', 'instant'] as const;
const textsOf = (texts: Texts) => Array.from(texts.ends, (_, i) => decodeText(texts, i));

function valuesOf(column: BlockColumn): unknown[] {
  if (column.holds === 'instant') return Array.from(column.instants, String);
  const texts = textsOf(column.texts);
  if (column.holds === 'text') return texts;
  return Array.from(column.ends, (end, i) => texts.slice(i === 0 ? 0 : column.ends[i - 1], end));
}

const decode = (text: string, count = 1) => decodeBlock(Buffer.from(text, 'latin1'), count, KINDS);

describe('The values of a block', () => {
  for (const [what, text] of Object.entries({ 'with escapes': escaped, 'without escapes': plain })) {
    it(`decode to lengths, instants, texts and lists, ${what}`, () => {
      const row = fc.tuple(
        fc.nat(2 ** 32 - 1),
        instant,
        text,
        text,
        fc.array(text, { maxLength: 3 }),
        instant,
      );
      fc.assert(
        fc.property(fc.array(row, { minLength: 1, maxLength: 9 }), (rows) => {
          const jsonOf = ([, , id, one, list]: (typeof rows)[number]) =>
            [id, one, list].map((value) => JSON.stringify(value));
          const lines = rows.map((one) => `[${one[0]},${one[1]},${jsonOf(one).join()},${one[5]}],`);
          const bytes = Buffer.from(lines.join(''));
          const decoded = decodeBlock(bytes, rows.length, KINDS);
          expect([...(decoded?.lengths ?? [])]).to.deep.equal(rows.map(([length]) => length));
          expect(Array.from(decoded?.changedAt ?? [], String)).to.deep.equal(
            rows.map(([, changedAt]) => String(changedAt)),
          );
          expect(decoded && textsOf(decoded.ids)).to.deep.equal(rows.map(([, , id]) => id));
          const columns = [3, 4, 5].map((i) =>
            rows.map((one) => (typeof one[i] === 'bigint' ? String(one[i]) : one[i])),
          );
          expect(decoded?.columns.map(valuesOf)).to.deep.equal(columns);
          for (const [i, one] of rows.entries()) {
            const [start = 0, idEnd = 0, end = 0] = [
              decoded?.starts[i],
              decoded?.idEnds[i],
              decoded?.ends[i],
            ];
            expect(bytes.toString('utf8', start, idEnd)).to.equal(jsonOf(one)[0]);
            expect(bytes.toString('utf8', start, end)).to.equal([...jsonOf(one), one[5]].join());
          }
        }),
        FIXED,
      );
    });
  }

  it('are decoded alike in code that was never run, and in code that V8 has optimized', () => {
    const rows = Array.from(
      { length: 1024 },
      (_, i) => `[930,179592696180${i % 10}000,"tkt_${i}","a${i}",["b"],${i}],`,
    );
    const bytes = Buffer.from(rows.join(''));
    for (let i = 0; i < 300; i++) expect(decodeBlock(bytes, rows.length, KINDS)).to.not.equal(undefined);
  });

  const sound = '[9,1,"id","a",["b","c"],2],';
  it('have values of these kinds only', () => {
    expect(decode(sound)).to.not.equal(undefined);
    for (const [from, ...others] of [
      ['9', '', '-9', '1.5', '"9"', 'null'],
      ['1', '', '"1"', '1.5', '1e3', '-', 'null', '9'.repeat(20), '9'.repeat(400)],
      [
        '"id"',
        '',
        'id',
        '"id',
        'null',
        '1',
        '["id"]',
        '"\\ud800"',
        '"\\x"',
        '"\\"',
        '"\n"',
        '"\x1f"',
        '"\xff"',
      ],
      ['"a"', '', 'null', '1', '[]', '"a" ', '"\\ud800"', '"\\n\xff"'],
      [
        '["b","c"]',
        '',
        'null',
        '"b"',
        '[',
        '["b"',
        '["b",]',
        '["b""c"]',
        '[1]',
        '[["b"]]',
        '["b", "c"]',
        '{}',
      ],
      [',2]', '', ']', ',]', ',"2"]', ',2', ',2,3]', ',2 ]'],
      ['],', ']', '] ,', '],,'],
    ])
      for (const other of others)
        expect(decode(sound.replace(from, other)), `${from} → ${other}`).to.equal(undefined);
  });

  it('have as many rows as declared', () => {
    for (const count of [0, 1, 3]) expect(decode(sound + sound, count), String(count)).to.equal(undefined);
    expect(decode(sound + sound, 2)).to.not.equal(undefined);
    expect(decode('', 1)).to.equal(undefined);
  });
});
