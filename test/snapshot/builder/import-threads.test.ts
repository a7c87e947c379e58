import { expect } from 'chai';
import { ImportThreads } from '../../../src/snapshot/builder/staging/import-threads.ts';
import { recordsIn, times } from '../../support/records.ts';
import { folderForEach } from '../../support/temporary-folder.ts';

/** Some blocks of 40 are read before the threads start. */
const BLOCK_BYTES = 100_000;
const TICKET = JSON.stringify(recordsIn('north').ticket('tkt'));

describe('The import threads', () => {
  const inFolder = folderForEach();
  let threads: ImportThreads;

  beforeEach(() => {
    const organizations = new Map([['north', 0]]);
    const data = { organizations, badOrganizations: new Set<string>(), held: new Map(), producedAt: 0 };
    threads = new ImportThreads(data, inFolder(''));
  });

  afterEach(() => threads[Symbol.asyncDispose]());

  async function* blocks(count: number, firstLineOf: (i: number) => number, line: string) {
    for (let i = 0; i < count; i++) {
      const bytes = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      bytes.fill(' ').write(line);
      bytes.write('\n', BLOCK_BYTES - 1);
      yield Promise.resolve({ bytes, firstLine: firstLineOf(i) });
    }
  }

  /** Reads blocks. Returns the numbers of their lines. */
  async function read(count: number, firstLineOf = (i: number) => i + 1, line = '{}'): Promise<number[]> {
    const lines: number[] = [];
    for await (const { bad } of threads.read('tickets', blocks(count, firstLineOf, line)))
      lines.push(...bad.map(({ line }) => line));
    return lines;
  }

  it('yield the blocks in file order', async () => {
    expect(await read(40)).to.deep.equal(times(40, (i) => i + 1));
  });

  it('fail together when one of them fails', async () => {
    await read(20);
    expect(await read(40, () => 21, TICKET).catch(String)).to.match(/UNIQUE constraint failed/);
  });

  it('read nothing after they have exited', async () => {
    await read(40);
    await threads[Symbol.asyncDispose]();
    expect(await read(1).catch(String)).to.match(/an import thread exited/);
  });
});
