import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { DEFAULT_SAMPLE, type WriteOptions, writeSample } from '../../../scripts/sample/write-sample.ts';
import { build } from '../../support/import-folder.ts';
import { refusalOf } from '../../support/refusal.ts';
import { folderForAll } from '../../support/temporary-folder.ts';

describe('writeSample', () => {
  const inFolder = folderForAll();
  const small = { ...DEFAULT_SAMPLE, events: 6, tickets: 80 };

  const write = async (name: string, options: Partial<WriteOptions> = {}) => {
    const output = inFolder(name);
    const counts = await writeSample({ ...small, output, ...options });
    return { output, counts, bytes: await bytesOf(output) };
  };

  it('writes the same bytes for the same seed and day, and others for another', async () => {
    const { bytes } = await write('first');
    expect((await write('again')).bytes).to.deep.equal(bytes);
    expect((await write('seed', { seed: 2 })).bytes).to.not.deep.equal(bytes);
    expect((await write('day', { now: '2026-11-22' })).bytes).to.not.deep.equal(bytes);
  });

  it('writes the bytes of data/sample', async () => {
    const { bytes } = await write('committed', { events: 12, tickets: 100 });
    expect(await bytesOf(join(import.meta.dirname, '../../../data/sample'))).to.deep.equal(bytes);
  });

  for (const [organizations, events, tickets] of [
    [1, 1, 1],
    [2, 50, 7],
    [25, 25, 100],
    [4, 45, 5000],
  ]) {
    const sizes = { organizations, events, tickets };
    it(`makes exactly ${JSON.stringify(sizes)}, which are built without a warning`, async () => {
      const { output, counts } = await write(JSON.stringify(sizes), sizes);
      expect(counts).to.include(sizes);
      const { warnings, dropped } = await build(output, `${output}.sqlite`, { isStrict: true });
      expect({ warnings, dropped: [...dropped] }).to.deep.equal({ warnings: [], dropped: [] });
    });
  }

  it('replaces an earlier import folder, even an unfinished one', async () => {
    const { output, bytes } = await write('replaced');
    await writeFile(join(output, 'tickets.ndjson.partial'), 'unfinished');
    const replaced = await write('replaced', { seed: 9 });
    expect(replaced.bytes).to.have.all.keys(bytes).and.to.not.deep.equal(bytes);
  });

  it('leaves no file behind when it fails', async () => {
    const output = inFolder('broken');
    const onProgress = () => {
      throw new RangeError('stop');
    };
    await refusalOf(writeSample({ ...small, tickets: 3000, output, onProgress }), RangeError);
    expect(await readdir(output)).to.deep.equal([]);
  });
});

async function bytesOf(path: string): Promise<Record<string, string>> {
  const names = (await readdir(path)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')));
  return Object.fromEntries(names.map((name, position) => [name, texts[position]]));
}
