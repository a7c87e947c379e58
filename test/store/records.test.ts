import { expect } from 'chai';
import { recordAt, recordSpan, recordsAt } from '../../src/store/records.ts';
import { pack } from '../support/pack.ts';

describe('Records', () => {
  const values = [{ id: 'a' }, { id: ',é' }, { id: '' }, { id: '😀', more: [1, 2] }];
  const records = pack(values);

  it('are read one by one', () => {
    expect(values.map((_, row) => String(recordAt(records, row)))).to.deep.equal(
      values.map((value) => JSON.stringify(value)),
    );
  });

  it('are read in spans that are the elements of an array', () => {
    for (let from = 0; from < values.length; from++) {
      for (let to = from + 1; to <= values.length; to++) {
        expect(JSON.parse(`[${String(recordSpan(records, from, to))}]`)).to.deep.equal(
          values.slice(from, to),
        );
      }
    }
  });

  it('are read at any rows, adjacent or not', () => {
    for (let chosen = 1; chosen < 2 ** values.length; chosen++) {
      const rows = [...values.keys()].filter((row) => ((chosen >> row) & 1) === 1);
      const read = JSON.parse(
        `[${recordsAt(records, Uint32Array.from(rows)).map(String).join('')}]`,
      ) as unknown;
      expect(read).to.deep.equal(rows.map((row) => values[row]));
    }
  });

  it('are views of the store, not copies', () => {
    expect(recordAt(records, 1).buffer).to.equal(records.bytes.buffer);
    expect(recordSpan(records, 1, 3).buffer).to.equal(records.bytes.buffer);
    for (const piece of recordsAt(records, Uint32Array.of(0, 2))) {
      expect(piece.buffer).to.equal(records.bytes.buffer);
    }
  });

  it('are in one piece where their rows are adjacent', () => {
    expect(recordsAt(records, Uint32Array.of(1, 2, 3))).to.have.length(1);
    expect(recordsAt(records, Uint32Array.of(0, 2, 3))).to.have.length(2);
    expect(recordsAt(records, Uint32Array.of(0, 2))).to.have.length(2);
    expect(recordsAt(records, Uint32Array.of())).to.deep.equal([]);
  });
});
