import { BoxOffice } from './box-office.ts';
import { type Seconds, ZoneClock } from './clock.ts';
import { Customers } from './customers.ts';
import { ImportFolder } from './import-folder.ts';
import { divideTickets } from './organizations.ts';
import { Identifiers, Random } from './random.ts';
import { checkSampleOptions, type SampleOptions } from './sample-options.ts';
import { createSeason, type SampleContext } from './season.ts';
import { eventRecord, offerRecords, sessionRecords } from './season-records.ts';

export interface WriteOptions extends SampleOptions {
  /** Output folder: new, empty, or an earlier import folder, which is replaced. */
  readonly output: string;
  /** Receives the number of tickets written so far. */
  readonly onProgress?: (tickets: number) => void;
}

/** Numbers of records, by kind. */
export type SampleReport = ImportFolder['counts'];

/** Half of the orders come from a returning customer. */
const TICKETS_PER_CUSTOMER = 5;

/**
 * Writes an import folder of consistent sample data. The files appear when all are complete.
 *
 * @throws RangeError when an option is out of range
 * @throws FolderInUse when the folder holds other files
 */
export async function writeSample(options: WriteOptions): Promise<SampleReport> {
  checkSampleOptions(options);
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
  const clocks = new Map<string, ZoneClock>();
  const clockOf = (zone: string) => {
    const clock = clocks.get(zone) ?? new ZoneClock(zone);
    clocks.set(zone, clock);
    return clock;
  };
  const context: SampleContext = {
    random,
    ids: new Identifiers(random),
    reference: startOf(options.now),
    clockOf,
  };
  const boxOffice = new BoxOffice(context);

  for (const { organization, quotas } of divideTickets(options, random)) {
    folder.write('organizations', { organizationId: organization.organizationId, name: organization.name });
    const tickets = quotas.reduce((sum, quota) => sum + quota, 0);
    const customerCount = Math.max(1, Math.ceil(tickets / TICKETS_PER_CUSTOMER));
    const customers = new Customers(organization.profile, customerCount, random);
    let orders = 0;

    const perSeason = organization.profile.productions.length;
    for (let first = 0; first < quotas.length; first += perSeason) {
      const season = createSeason(
        organization,
        first / perSeason,
        quotas.slice(first, first + perSeason),
        context,
      );
      for (const event of season.events) {
        folder.write('events', eventRecord(organization, event));
        for (const session of sessionRecords(organization, event)) folder.write('sessions', session);
      }
      while (season.events.some(({ remaining }) => remaining > 0)) {
        const { order, tickets: issued } = boxOffice.sell(season, customers, ++orders);
        folder.write('orders', order);
        for (const ticket of issued) folder.write('tickets', ticket);
        if (folder.full) {
          await folder.flush();
          options.onProgress?.(folder.counts.tickets);
        }
      }
      // Last, since the stock that is left depends on the sales.
      for (const offer of offerRecords(season, random)) folder.write('offers', offer);
    }
  }
}

/** Returns the first second of a day in UTC, so that a sample as of today holds nothing from the future. */
function startOf(day: string): Seconds {
  return Date.parse(`${day}T00:00:00Z`) / 1000;
}
