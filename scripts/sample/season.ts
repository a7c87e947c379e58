import { DAY, MINUTE, type Seconds, type ZoneClock } from './clock.ts';
import type { Identifiers } from './identifiers.ts';
import type { BundleOffer, ProductOffer, StagedEvent } from './offers.ts';
import type { Organization } from './organizations.ts';
import type { Random } from './random.ts';
import { sessionStarts } from './schedule.ts';
import { bundleOffer, categoryOffer, extraOffer, productOffer } from './stage-offers.ts';

/** Sales of a season open at once, this long before its first session at the latest. */
const PRESALE = 30 * DAY;
/** Later seasons lie up to four years back, shifted by whole weeks so that each plays on its weekdays. */
const YEARS = 4;
const WEEKS_A_YEAR = 52;

/**
 * The events of an organization that are sold together: one of each of its productions. A season is what is
 * in memory at a time.
 */
export interface Season {
  readonly organization: Organization;
  /** When sales opened; never after the reference time. */
  readonly openedAt: Seconds;
  readonly events: readonly StagedEvent[];
  readonly products: readonly ProductOffer[];
  readonly bundles: readonly BundleOffer[];
}

/** What the making of all records shares. */
export interface Stage {
  readonly random: Random;
  readonly ids: Identifiers;
  /** The sample's present: nothing was created, changed or sold after it. */
  readonly reference: Seconds;
  readonly clockOf: (zone: string) => ZoneClock;
}

/**
 * Season `number` (from 0) of an organization, with as many events as there are `quotas`: the exact number of
 * tickets to issue for each.
 */
export function stageSeason(
  organization: Organization,
  number: number,
  quotas: readonly number[],
  stage: Stage,
): Season {
  const { profile } = organization;
  const { ids, random, reference } = stage;
  const weeksBack = (number % YEARS) * WEEKS_A_YEAR + (Math.floor(number / YEARS) % WEEKS_A_YEAR);
  const schedules = profile.productions.slice(0, quotas.length).map((production) => {
    const zone = production.venue.zone ?? profile.zone;
    const firstDay = production.firstDay - 7 * weeksBack;
    return { production, zone, starts: sessionStarts({ ...production, firstDay }, zone, reference) };
  });
  const openedAt = Math.min(reference, ...schedules.map(({ starts }) => starts[0])) - PRESALE;

  const events = schedules.map(({ production, zone, starts }, index): StagedEvent => {
    const clock = stage.clockOf(zone);
    const createdAt = openedAt - random.between(5 * DAY, 40 * DAY);
    const sessions = starts.map((start) => ({
      sessionId: ids.next('ses_'),
      start,
      startAt: clock.write(start),
      minutes: production.minutes,
    }));
    const sessionIds = sessions.map(({ sessionId }) => sessionId);
    const categories = production.categories.map((category) =>
      categoryOffer(category, sessionIds, profile, ids),
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
      extras: production.extras.map((extra) => extraOffer(extra, categories, sessionIds, profile, ids)),
      remaining: quotas[index],
    };
  });

  const held = (productions: readonly number[]) =>
    productions.filter((position) => position < events.length).map((position) => events[position]);
  const all = events.map((_, position) => position);
  const products = new Map(
    profile.merchandise.map((merchandise, position) => [
      position,
      productOffer(merchandise, held(merchandise.productions ?? all), profile, ids),
    ]),
  );
  const bundles = profile.packages.map((contents) =>
    bundleOffer(
      contents,
      held(contents.productions),
      contents.merchandise === null ? undefined : products.get(contents.merchandise),
      profile,
      ids,
    ),
  );
  return {
    organization,
    openedAt,
    events,
    products: [...products.values()].filter(({ heldBy }) => heldBy.length > 0),
    bundles: bundles.filter((bundle) => bundle !== undefined),
  };
}
