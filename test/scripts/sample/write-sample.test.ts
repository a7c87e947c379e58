import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { orderRecord } from '../../../scripts/sample/order-record.ts';
import type { issueTickets } from '../../../scripts/sample/tickets.ts';
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

describe('The default sample', () => {
  const inFolder = folderForAll();
  let files: Readonly<Record<string, string>>;

  before(async () => {
    await writeSample({ ...DEFAULT_SAMPLE, output: inFolder('.') });
    files = await bytesOf(inFolder('.'));
  });

  /** Expects a share of the records of a file for which a condition holds. */
  const expectShares = <Line>(file: string, shares: Readonly<Record<string, Share<Line>>>) => {
    const records = files[file]
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
    for (const [name, [least, most, holds]] of Object.entries(shares))
      expect(records.filter(holds).length / records.length, name).to.be.within(least, most);
  };

  it('has orders of every kind', () => {
    expectShares<ReturnType<typeof orderRecord>>('orders.ndjson', {
      pending: [0.02, 0.1, ({ status }) => status === 'PENDING'],
      cancelled: [0.08, 0.12, ({ status }) => status === 'CANCELLED'],
      'refunded in part': [0.02, 0.1, ({ paymentStatus }) => paymentStatus === 'PARTIALLY_REFUNDED'],
      discounted: [0.1, 0.16, ({ discountAmount }) => discountAmount > 0],
      'of several items': [0.2, 0.5, ({ placedItems }) => placedItems.length > 1],
      'with a product': [0.05, 0.3, ({ placedItems }) => placedItems.some(({ eventId }) => eventId === null)],
      'delivered home': [0.05, 0.15, ({ delivery }) => delivery.homeDeliveryAddress !== null],
      'picked up': [0.05, 0.15, ({ delivery }) => delivery.pickupPoint !== null],
      insured: [0.2, 0.3, ({ ticketsProtected }) => ticketsProtected],
      'with a donation': [0.1, 0.2, ({ addOns }) => addOns.some(({ category }) => category === 'DONATION')],
      'of a company': [0.04, 0.12, ({ billingAddress }) => billingAddress?.type === 'company'],
      'without a name': [0.01, 0.06, ({ customer }) => customer.lastName === null],
      'in yen': [0.2, 0.5, ({ currency }) => currency === 'JPY'],
    });
  });

  it('has tickets of every kind', () => {
    expectShares<ReturnType<typeof issueTickets>[number]>('tickets.ndjson', {
      used: [0.2, 0.8, ({ status }) => status === 'USED'],
      cancelled: [0.1, 0.2, ({ status }) => status === 'CANCELLED'],
      'with a seat': [0.5, 0.9, ({ seatingInfo }) => Boolean(seatingInfo?.seatNumber)],
      'with free seating': [0.02, 0.2, ({ seatingInfo }) => seatingInfo === null],
      'with a form': [0.05, 0.3, ({ attendeeForm }) => attendeeForm !== null],
      free: [0.05, 0.15, ({ finalPaidPrice }) => finalPaidPrice === 0],
    });
  });
});

type Share<Line> = readonly [least: number, most: number, holds: (record: Line) => boolean];

async function bytesOf(path: string): Promise<Record<string, string>> {
  const names = (await readdir(path)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(path, name), 'utf8')));
  return Object.fromEntries(names.map((name, position) => [name, texts[position]]));
}
