import { expect } from 'chai';
import { ImportThreads } from '../../src/snapshot/import-threads.ts';

describe('the threads that read an import', () => {
  async function* blocks(count: number) {
    for (let i = 0; i < count; i++) yield Promise.resolve({ bytes: Buffer.from('{}\n'), firstLine: i + 1 });
  }

  it('give the blocks back in their order', async () => {
    const threads = new ImportThreads(new Set(['o']));
    const lines: number[] = [];
    for await (const { bad } of threads.read('tickets', blocks(40)))
      lines.push(...bad.map(({ line }) => line));
    expect(lines).to.deep.equal(Array.from({ length: 40 }, (_, i) => i + 1));
    await threads.close();
  });

  it('end the reading when one of them fails, whatever is under way', async () => {
    const threads = new ImportThreads(new Set());
    const reading = async () => {
      for await (const { rows } of threads.read('nothing', blocks(40))) expect.fail(`${rows.count} rows`);
    };
    expect(await reading().catch(String)).to.match(/no collection nothing/);
    await threads.close();
  });

  it('read nothing once they have ended', async () => {
    const threads = new ImportThreads(new Set());
    await threads.close();
    const reading = async () => {
      for await (const { rows } of threads.read('tickets', blocks(1))) expect.fail(`${rows.count} rows`);
    };
    expect(await reading().catch(String)).to.match(/a thread of the builder ended/);
  });
});
