import { clockOf, DAY, MINUTE, type Seconds, sessionStarts } from './clock.ts';
import { BUNDLES, SEASON } from './model.ts';
import { type BundleOffer, type EventOnSale, OfferFactory, type ProductOffer } from './offers.ts';
import type { Profile } from './profile.ts';
import type { Identifiers, Random } from './random.ts';

/** Sales of all events of a season open at least this long before its first session. */
const PRESALE = 30 * DAY;
/** Further seasons lie up to four years back, by whole weeks, so that weekdays stay the same. */
const YEARS = 4;
const WEEKS_A_YEAR = 52;

/** State shared by all parts of the generator. */
export interface SampleContext {
  readonly random: Random;
  readonly ids: Identifiers;
  /** The present time of the sample: no record was created, changed or sold later. */
  readonly reference: Seconds;
}

/**
 * Events of an organization that are sold together, at most one for each production, and their offers. Prices are in
 * minor units. The generator keeps one season in memory at a time.
 */
export interface Season {
  readonly profile: Profile;
  /** Start of sales; never after the reference time. */
  readonly openedAt: Seconds;
  readonly events: readonly EventOnSale[];
  readonly products: readonly ProductOffer[];
  readonly bundles: readonly BundleOffer[];
}

/**
 * Creates a season of an organization.
 * @param number of the season, from 0
 * @param quotas the exact number of tickets of each event
 */
export function createSeason(
  profile: Profile,
  number: number,
  quotas: readonly number[],
  { ids, random, reference }: SampleContext,
): Season {
  const weeksBack = (number % YEARS) * WEEKS_A_YEAR + (Math.floor(number / YEARS) % WEEKS_A_YEAR);
  const schedules = SEASON.slice(0, quotas.length).map((production) => {
    const zone = profile.places[production.place].zone ?? profile.zone;
    const firstDay = production.schedule.firstDay - 7 * weeksBack;
    return { production, zone, starts: sessionStarts({ ...production.schedule, firstDay }, zone, reference) };
  });
  const openedAt = Math.min(reference, ...schedules.map(({ starts }) => starts[0])) - PRESALE;

  const offers = new OfferFactory(profile, ids);
  const events = schedules.map(({ production, zone, starts }, index) => {
    const clock = clockOf(zone);
    const createdAt = openedAt - random.between(5 * DAY, 40 * DAY);
    const [title] = profile.productions[production.name];
    const event: EventOnSale = {
      eventId: ids.next('evt_'),
      title: number === 0 ? title : `${title} · ${number + 1}`,
      production,
      clock,
      createdAt,
      updatedAt: random.between(createdAt + MINUTE, reference),
      sessions: starts.map((start) => ({ sessionId: ids.next('ses_'), start, startAt: clock.write(start) })),
      categories: [],
      extras: [],
      remaining: quotas[index],
    };
    event.categories.push(...production.seats.map((name) => offers.category(name, event)));
    if (production.extra) event.extras.push(offers.extra(production.extra, event));
    return event;
  });

  const book = offers.product('book', events);
  const products = [book, offers.product('shirt', events)];
  const bundles = BUNDLES.flatMap((bundle) => {
    const inBundle = events.filter(({ production }) => bundle.productions.includes(production.name));
    return offers.bundle(bundle, inBundle, bundle.hasBook ? [book] : []);
  });
  return { profile, openedAt, events, products, bundles };
}
