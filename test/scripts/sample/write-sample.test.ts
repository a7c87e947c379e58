import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { DEFAULT_SAMPLE, type WriteOptions, writeSample } from '../../../scripts/sample/write-sample.ts';
import { refusalOf } from '../../support/refusal.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { FILES, readSample } from './sample-folder.ts';

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

  for (const [organizations, events, tickets] of [
    [1, 1, 1],
    [3, 1, 10],
    [2, 50, 7],
    [9, 31, 500],
    [25, 25, 100],
  ]) {
    it(`makes exactly ${organizations} organizations, ${events} events, ${tickets} tickets`, async () => {
      const { output, counts } = await write(`${organizations}-${events}-${tickets}`, {
        organizations,
        events,
        tickets,
      });
      const sample = await readSample(output);
      expect(counts).to.include({ organizations, events, tickets });
      const names = new Set(sample.organizations.map(({ organizationId }) => organizationId));
      expect(names).to.have.length(organizations);
      const lines = Object.entries(sample).map(([kind, records]: [string, unknown[]]) => [
        kind,
        records.length,
      ]);
      expect(Object.fromEntries(lines)).to.deep.equal(counts);
    });
  }

  it('writes about 2.5 tickets for each order, each below 1.1 kB', async () => {
    const { output, counts } = await write('ratio', { tickets: 4000 });
    expect(counts.tickets / counts.orders).to.be.within(2.3, 2.7);
    const size = (await readFile(join(output, 'tickets.ndjson'))).length / counts.tickets;
    expect(size).to.be.within(800, 1100);
  });

  it('replaces an earlier import folder, even an unfinished one', async () => {
    const { output, bytes } = await write('replaced');
    await writeFile(join(output, 'tickets.ndjson.partial'), 'unfinished');
    expect((await write('replaced', { seed: 9 })).bytes).to.not.deep.equal(bytes);
    expect((await readdir(output)).sort()).to.deep.equal(FILES);
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

describe('data/sample', () => {
  const inFolder = folderForAll();

  /** npm run sample -- --output data/sample --events 9 --tickets 120 */
  const committed = { ...DEFAULT_SAMPLE, events: 9, tickets: 120 };

  it('equals the output of the generator, byte for byte, and is small', async () => {
    await writeSample({ ...committed, output: inFolder('.') });
    const written = await bytesOf(join(import.meta.dirname, '../../../data/sample'));
    expect(written).to.deep.equal(await bytesOf(inFolder('.')));
    expect(Object.values(written).join('').length).to.be.below(300_000);
  });
});

async function bytesOf(path: string): Promise<Record<string, string>> {
  const names = (await readdir(path)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')));
  return Object.fromEntries(names.map((name, position) => [name, texts[position]]));
}
