import { expect } from 'chai';
import { recordsImage } from '../../src/store/records-builder.ts';
import { PLACE, recordAt, recordsAt, recordSpan } from '../../src/store/records.ts';

describe('Records', () => {
  const values = [{ id: 'a' }, { id: ',é' }, { id: '' }, { id: '😀', more: [1, 2] }, { id: 'e' }];
  const texts = values.map((value) => JSON.stringify(value));

  for (const slabBytes of [1, 24, 40, 1000]) {
    const records = recordsImage(texts, slabBytes);
    const slabs = records.slabs.map(({ bytes }) => bytes.buffer);
    const slabOf = (row: number) => records.places[row * PLACE];

    describe(`in ${slabs.length} slabs`, () => {
      it('are read in spans that are the elements of an array, of one record or of many', () => {
        for (let from = 0; from < values.length; from++) {
          expect(String(recordAt(records, from))).to.equal(texts[from]);
          for (let to = from + 1; to <= values.length; to++) {
            const span = recordSpan(records, from, to);
            expect(JSON.parse(`[${span.map(String).join('')}]`)).to.deep.equal(values.slice(from, to));
            const touched = slabs.slice(slabOf(from), slabOf(to - 1) + 1);
            expect(
              span.map(({ buffer }) => buffer),
              'views, not copies',
            ).to.deep.equal(touched);
          }
        }
      });

      it('are read at any rows, in one piece where rows are adjacent in a slab', () => {
        for (let chosen = 0; chosen < 2 ** values.length; chosen++) {
          const rows = [...values.keys()].filter((row) => ((chosen >> row) & 1) === 1);
          const pieces = recordsAt(records, Uint32Array.from(rows));
          expect(JSON.parse(`[${pieces.map(String).join('')}]`)).to.deep.equal(
            rows.map((row) => values[row]),
          );
          const starts = rows.filter((row, i) => rows[i - 1] !== row - 1 || slabOf(row) !== slabOf(row - 1));
          expect(pieces.map(({ buffer }) => buffer)).to.deep.equal(starts.map((row) => slabs[slabOf(row)]));
        }
      });
    });
  }
});
