import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { requestIdOf } from '../../src/http/request-id.ts';

describe('requestIdOf', () => {
  for (const id of ['a', 'A-z_0.9', 'x'.repeat(128)]) {
    it(`keeps ${id.slice(0, 12)}`, () => {
      expect(requestIdOf(id)).to.equal(id);
    });
  }
  for (const id of [undefined, '', 'x'.repeat(129), 'a b', 'a,b', 'é', 'a\n', ['a', 'b']]) {
    it(`makes a new one for ${String(id).slice(0, 12)}`, () => {
      expect(requestIdOf(id)).to.match(/^[0-9a-f-]{36}\.[0-9]+$/);
    });
  }

  it('never makes the same again', () => {
    const made = Array.from({ length: 1000 }, () => requestIdOf(undefined));
    expect(new Set(made).size).to.equal(made.length);
  });

  it('makes others in each thread', async () => {
    const module = new URL('../../src/http/request-id.ts', import.meta.url).href;
    const made = async (): Promise<unknown> => {
      const code = `import(${JSON.stringify(module)}).then(({ requestIdOf }) => require('worker_threads').parentPort.postMessage(requestIdOf()))`;
      const worker = new Worker(code, { eval: true });
      const [id] = (await once(worker, 'message')) as unknown[];
      return id;
    };
    const [one, other] = await Promise.all([made(), made()]);
    expect(one).to.be.a('string').and.not.equal(other);
  });
});
