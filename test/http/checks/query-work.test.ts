import { getHeapStatistics } from 'node:v8';
import { expect } from 'chai';
import { OPERATIONS, parametersOf } from '../../../src/contract/operations.ts';
import { isList } from '../../../src/contract/parameter.ts';
import { parseQuery, queryReader } from '../../../src/http/checks/query.ts';
import { Problem } from '../../../src/http/response/problem.ts';

const LENGTH = 16_000;
const repeated = (part: string) => part.repeat(LENGTH / part.length);
/** Plain, encoded and broken texts, some with many elements, and with marks that Unicode sorts. */
const PARTS = ['a', ',', 'a,', '%2C', '+', '9', '%', '%ff', '%C3%A9', '%CC%81%CC%A7', '%EF%B7%BA', '%22'];

/** Returns the bytes that a function allocates. They measure its work independently of time. */
function allocatedBy(run: () => void): number {
  const before = getHeapStatistics().total_allocated_bytes;
  run();
  return getHeapStatistics().total_allocated_bytes - before;
}

describe('A query of 16 kB', () => {
  for (const operation of OPERATIONS) {
    const parameters = parametersOf(operation);
    const readQuery = queryReader(parameters);

    /** Returns the body of the 400, if any. */
    function read(text: string, prefer?: string): string {
      try {
        readQuery(parseQuery(text, parameters, prefer));
        return '{"errors":[]}';
      } catch (error) {
        if (error instanceof Problem) return error.body.toString();
        throw error;
      }
    }

    it(`of ${operation.id} costs work in proportion to its length, and has one error for each parameter`, () => {
      const others = Array.from({ length: LENGTH / 4 }, (_, i) => i.toString(36));
      const texts = [others.join('&'), `%&%41${others.join('&%41')}`.slice(0, LENGTH)];
      for (const part of PARTS) {
        texts.push(repeated(`${part}&`), repeated(`%${part}=&`));
        texts.push(...parameters.map(({ name }) => `${name}=${repeated(part)}`));
        texts.push(...parameters.map(({ name }) => repeated(`${name}=${part}&`)));
        texts.push(repeated(['x', ...parameters.map(({ name }) => name)].join(`=${part}&`)));
      }
      for (const text of texts)
        for (const prefer of [undefined, 'handling=strict']) {
          const body = read(text, prefer);
          const { errors } = JSON.parse(body) as { errors: { loc: string }[] };
          expect(new Set(errors.map(({ loc }) => loc)).size, text.slice(0, 40)).to.equal(errors.length);
          expect(body.length, text.slice(0, 40)).to.be.at.most(3 * LENGTH);
          const allocated = allocatedBy(() => read(text, prefer));
          expect(allocated, text.slice(0, 40)).to.be.at.most(200 * LENGTH);
        }
    });
  }

  it('has no more elements of a list than are needed to count too many', () => {
    const lists = OPERATIONS.flatMap(parametersOf).filter(({ kind }) => isList(kind));
    for (const { kind } of lists) expect(kind.read(repeated('a,'))).to.have.length(11);
  });
});
