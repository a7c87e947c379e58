import { BoxOffice } from './box-office.ts';
import { type Seconds, ZoneClock } from './clock.ts';
import { Customers } from './customers.ts';
import { eventRecord, sessionRecords } from './event-records.ts';
import { Identifiers } from './identifiers.ts';
import { ImportFolder } from './import-folder.ts';
import { offerRecords } from './offer-records.ts';
import { type Organization, organizationAt } from './organizations.ts';
import { Random } from './random.ts';
import { checkSampleOptions, type SampleOptions } from './sample-options.ts';
import { type Stage, stageSeason } from './season.ts';
import { sharesOf } from './shares.ts';

export interface WriteOptions extends SampleOptions {
  /** Folder to write: new, empty, or an earlier import folder, which is replaced. */
  readonly output: string;
  /** Told from time to time how many tickets are written. */
  readonly onProgress?: (tickets: number) => void;
}

/** Records written, by kind. */
export type SampleReport = ImportFolder['counts'];

/** A customer for every so many tickets: half of the orders are from one who comes back. */
const TICKETS_PER_CUSTOMER = 5;

/**
 * Writes an import folder of made-up data, consistent throughout. It appears when it is complete.
 *
 * @throws RangeError when an option is out of its range.
 * @throws FolderInUse when the folder holds something else.
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
  const stage: Stage = { random, ids: new Identifiers(random), reference: startOf(options.now), clockOf };
  const boxOffice = new BoxOffice(stage);

  for (const { organization, quotas } of division(options, random)) {
    folder.write('organizations', { organizationId: organization.organizationId, name: organization.name });
    const tickets = quotas.reduce((sum, quota) => sum + quota, 0);
    const customers = Math.max(1, Math.ceil(tickets / TICKETS_PER_CUSTOMER));
    const books = { customers: new Customers(organization.profile, customers, random), lastOrder: 0 };

    const perSeason = organization.profile.productions.length;
    for (let first = 0; first < quotas.length; first += perSeason) {
      const season = stageSeason(
        organization,
        first / perSeason,
        quotas.slice(first, first + perSeason),
        stage,
      );
      for (const event of season.events) {
        folder.write('events', eventRecord(organization, event));
        for (const session of sessionRecords(organization, event)) folder.write('sessions', session);
      }
      while (season.events.some(({ remaining }) => remaining > 0)) {
        const { order, tickets: issued } = boxOffice.sell(season, books);
        folder.write('orders', order);
        for (const ticket of issued) folder.write('tickets', ticket);
        if (folder.full) {
          await folder.drain();
          options.onProgress?.(folder.counts.tickets);
        }
      }
      // Last, since what is left in stock depends on what was sold.
      for (const offer of offerRecords(season, random)) folder.write('offers', offer);
    }
  }
}

/** The organizations, each with the number of tickets of each of its events. */
function division({ organizations, events, tickets }: SampleOptions, random: Random) {
  const eventsOf = sharesOf(
    events,
    Array.from({ length: organizations }, () => 1),
  );
  const all = eventsOf.map((count, position) => {
    const organization = organizationAt(position);
    const { productions } = organization.profile;
    const weights = Array.from(
      { length: count },
      (_, event) => productions[event % productions.length].draw * (0.6 + 0.8 * random.fraction()),
    );
    return { organization, weights };
  });
  const shares = sharesOf(
    tickets,
    all.flatMap(({ weights }) => weights),
  );
  let first = 0;
  return all.map(({ organization, weights }): { organization: Organization; quotas: number[] } => ({
    organization,
    quotas: shares.slice(first, (first += weights.length)),
  }));
}

/** The day's first moment in UTC: whoever passes today's date gets nothing that lies in the future. */
function startOf(day: string): Seconds {
  return Date.parse(`${day}T00:00:00Z`) / 1000;
}
