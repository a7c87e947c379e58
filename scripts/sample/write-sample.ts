import { BoxOffice } from './box-office.ts';
import { Customers } from './customers.ts';
import { ImportFolder } from './import-folder.ts';
import { orderRecord } from './order-record.ts';
import { SEASON } from './model.ts';
import { divideTickets } from './organizations.ts';
import { Identifiers, Random } from './random.ts';
import { createSeason, type SampleContext } from './season.ts';
import { eventRecord, offerRecords, sessionRecords } from './season-records.ts';
import { issueTickets } from './tickets.ts';

export interface SampleOptions {
  readonly organizations: number;
  /** Total, divided as evenly as possible among the organizations. */
  readonly events: number;
  /** Total of all events. */
  readonly tickets: number;
  /** The same options give the same bytes. */
  readonly seed: number;
  /** The present day of the sample, `YYYY-MM-DD`: some events are past, some running, some upcoming. */
  readonly now: string;
}

export const DEFAULT_SAMPLE: SampleOptions = {
  organizations: 3,
  events: 18,
  tickets: 6000,
  seed: 1,
  now: '2026-11-21',
};

export interface WriteOptions extends SampleOptions {
  /** Output folder: new, empty, or an earlier import folder, which is replaced. */
  readonly output: string;
  /** Receives the number of tickets written so far. */
  readonly onProgress?: (tickets: number) => void;
}

/** Half of the orders come from a returning customer. */
const TICKETS_PER_CUSTOMER = 5;

/**
 * Writes an import folder of consistent sample data. The files appear when all are complete. Returns the numbers of
 * records, by kind.
 * @throws FolderInUse when the folder holds other files
 */
export async function writeSample(options: WriteOptions): Promise<ImportFolder['counts']> {
  const folder = await ImportFolder.begin(options.output);
  try {
    await fill(folder, options);
    await folder.finish();
  } catch (error) {
    await folder.discard();
    throw error;
  }
  return folder.counts;
}

async function fill(folder: ImportFolder, options: WriteOptions): Promise<void> {
  const random = new Random(options.seed);
  // The first second of a day in UTC, so that a sample as of today holds nothing from the future.
  const reference = Date.parse(`${options.now}T00:00:00Z`) / 1000;
  const context: SampleContext = { random, ids: new Identifiers(random), reference };
  const boxOffice = new BoxOffice(context);

  for (const { profile, quotas } of divideTickets(options, random)) {
    folder.write('organizations', { organizationId: profile.organizationId, name: profile.name });
    const tickets = quotas.reduce((sum, quota) => sum + quota, 0);
    const customers = new Customers(profile, Math.max(1, Math.ceil(tickets / TICKETS_PER_CUSTOMER)), random);
    let orders = 0;

    for (let first = 0; first < quotas.length; first += SEASON.length) {
      const inSeason = quotas.slice(first, first + SEASON.length);
      const season = createSeason(profile, first / SEASON.length, inSeason, context);
      for (const event of season.events) {
        folder.write('events', eventRecord(profile, event));
        for (const session of sessionRecords(profile, event)) folder.write('sessions', session);
      }
      while (season.events.some(({ remaining }) => remaining > 0)) {
        const sale = boxOffice.sell(season, customers, ++orders);
        const order = orderRecord(sale);
        folder.write('orders', order);
        for (const ticket of issueTickets(sale, order, context)) folder.write('tickets', ticket);
        if (folder.isFull) {
          await folder.flush();
          options.onProgress?.(folder.counts.tickets);
        }
      }
      // Last, since the stock that is left depends on the sales.
      for (const offer of offerRecords(season, random)) folder.write('offers', offer);
    }
  }
}
