import { expect } from 'chai';
import { recordAt, recordSpan, recordsAt } from '../../src/store/records.ts';
import { pack } from '../support/pack.ts';

describe('Records', () => {
  const values = [{ id: 'a' }, { id: ',é' }, { id: '' }, { id: '😀', more: [1, 2] }];
  const records = pack(values);

  it('are read in spans that are the elements of an array, of one record or of many', () => {
    for (let from = 0; from < values.length; from++) {
      expect(String(recordAt(records, from))).to.equal(JSON.stringify(values[from]));
      for (let to = from + 1; to <= values.length; to++) {
        const span = recordSpan(records, from, to);
        expect(JSON.parse(`[${String(span)}]`)).to.deep.equal(values.slice(from, to));
        expect(span.buffer, 'a view, not a copy').to.equal(records.bytes.buffer);
      }
    }
  });

  it('are read at any rows, adjacent or not', () => {
    for (let chosen = 1; chosen < 2 ** values.length; chosen++) {
      const rows = [...values.keys()].filter((row) => ((chosen >> row) & 1) === 1);
      const pieces = recordsAt(records, Uint32Array.from(rows));
      expect(JSON.parse(`[${pieces.map(String).join('')}]`)).to.deep.equal(rows.map((row) => values[row]));
      for (const { buffer } of pieces) expect(buffer).to.equal(records.bytes.buffer);
    }
  });

  it('are in one piece where their rows are adjacent', () => {
    expect(recordsAt(records, Uint32Array.of(1, 2, 3))).to.have.length(1);
    expect(recordsAt(records, Uint32Array.of(0, 2, 3))).to.have.length(2);
    expect(recordsAt(records, Uint32Array.of(0, 2))).to.have.length(2);
    expect(recordsAt(records, Uint32Array.of())).to.deep.equal([]);
  });
});
