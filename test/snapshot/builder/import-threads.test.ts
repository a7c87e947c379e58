import { expect } from 'chai';
import { ImportThreads } from '../../../src/snapshot/builder/staging/import-threads.ts';
import { folderForEach } from '../../support/temporary-folder.ts';

/** Some blocks of 40 are read before the threads start. */
const BLOCK_BYTES = 100_000;

describe('The import threads', () => {
  const inFolder = folderForEach();
  let threads: ImportThreads;

  beforeEach(() => {
    const badOrganizations = { ids: new Set<string>(), isAnyUnknown: false };
    const organizations = new Map([['north', 0]]);
    threads = new ImportThreads({ organizations, badOrganizations, keepsLines: true }, inFolder(''));
  });

  afterEach(() => threads.close());

  async function* blocks(count: number) {
    for (let i = 0; i < count; i++) {
      const bytes = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      bytes.fill(' ').write('{}');
      bytes.write('\n', BLOCK_BYTES - 1);
      yield Promise.resolve({ bytes, firstLine: i + 1 });
    }
  }

  it('yield the blocks in file order', async () => {
    const lines: number[] = [];
    for await (const { notes } of threads.read('tickets', blocks(40)))
      lines.push(...notes.lines.map(({ line }) => line));
    expect(lines).to.deep.equal(Array.from({ length: 40 }, (_, i) => i + 1));
  });

  it('fail together when one of them fails', async () => {
    for await (const { records } of threads.read('tickets', blocks(20))) expect(records).to.equal(0);
    const reading = async () => {
      for await (const { records } of threads.read('nothing', blocks(40))) expect.fail(`${records} records`);
    };
    expect(await reading().catch(String)).to.match(/no collection nothing/);
  });

  it('read nothing after they have exited', async () => {
    for await (const { records } of threads.read('tickets', blocks(40))) expect(records).to.equal(0);
    await threads.close();
    const reading = async () => {
      for await (const { records } of threads.read('tickets', blocks(1))) expect.fail(`${records} records`);
    };
    expect(await reading().catch(String)).to.match(/an import thread exited/);
  });
});
