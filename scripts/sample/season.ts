import { DAY, MINUTE, type Seconds, sessionStarts, type ZoneClock } from './clock.ts';
import {
  type BundleOffer,
  createBundleOffer,
  createCategoryOffer,
  createExtraOffer,
  createProductOffer,
  type EventOnSale,
  type ProductOffer,
} from './offers.ts';
import type { Organization } from './organizations.ts';
import type { Identifiers, Random } from './random.ts';

/** Sales of all events of a season open at least this long before its first session. */
const PRESALE = 30 * DAY;
/** Further seasons lie up to four years back, by whole weeks, so that weekdays stay the same. */
const YEARS = 4;
const WEEKS_A_YEAR = 52;

/**
 * Events of an organization that are sold together, at most one for each production. The generator keeps one season
 * in memory at a time.
 */
export interface Season {
  readonly organization: Organization;
  /** Start of sales; never after the reference time. */
  readonly openedAt: Seconds;
  readonly events: readonly EventOnSale[];
  readonly products: readonly ProductOffer[];
  readonly bundles: readonly BundleOffer[];
}

/** State shared by all parts of the generator. */
export interface SampleContext {
  readonly random: Random;
  readonly ids: Identifiers;
  /** The present time of the sample: no record was created, changed or sold later. */
  readonly reference: Seconds;
  readonly clockOf: (zone: string) => ZoneClock;
}

/**
 * Creates a season of an organization.
 * @param number of the season, from 0
 * @param quotas the exact number of tickets of each event
 */
export function createSeason(
  organization: Organization,
  number: number,
  quotas: readonly number[],
  context: SampleContext,
): Season {
  const { profile } = organization;
  const { ids, random, reference } = context;
  const weeksBack = (number % YEARS) * WEEKS_A_YEAR + (Math.floor(number / YEARS) % WEEKS_A_YEAR);
  const schedules = profile.productions.slice(0, quotas.length).map((production) => {
    const zone = production.venue?.zone ?? profile.zone;
    const firstDay = production.schedule.firstDay - 7 * weeksBack;
    return { production, zone, starts: sessionStarts({ ...production.schedule, firstDay }, zone, reference) };
  });
  const openedAt = Math.min(reference, ...schedules.map(({ starts }) => starts[0])) - PRESALE;

  const events = schedules.map(({ production, zone, starts }, index): EventOnSale => {
    const clock = context.clockOf(zone);
    const createdAt = openedAt - random.between(5 * DAY, 40 * DAY);
    const sessions = starts.map((start) => ({
      sessionId: ids.next('ses_'),
      start,
      startAt: clock.write(start),
      minutes: production.schedule.minutes,
    }));
    const sessionIds = sessions.map(({ sessionId }) => sessionId);
    const categories = production.categories.map((category) =>
      createCategoryOffer(category, sessionIds, profile, ids),
    );
    return {
      eventId: ids.next('evt_'),
      title: number === 0 ? production.title : `${production.title} · ${number + 1}`,
      production,
      clock,
      createdAt,
      updatedAt: random.between(createdAt + MINUTE, reference),
      sessions,
      categories,
      extras: (production.extras ?? []).map((extra) =>
        createExtraOffer(extra, categories, sessionIds, profile, ids),
      ),
      remaining: quotas[index],
    };
  });

  const held = (productions: readonly number[]) =>
    productions.filter((position) => position < events.length).map((position) => events[position]);
  const all = events.map((_, position) => position);
  const products = profile.merchandise.map((merchandise) =>
    createProductOffer(merchandise, held(merchandise.productions ?? all), profile, ids),
  );
  const bundles = profile.packages.map((contents) =>
    createBundleOffer(
      contents,
      held(contents.productions),
      contents.merchandise === undefined ? undefined : products[contents.merchandise],
      profile,
      ids,
    ),
  );
  return {
    organization,
    openedAt,
    events,
    products: products.filter(({ heldBy }) => heldBy.length > 0),
    bundles: bundles.filter((bundle) => bundle !== undefined),
  };
}
