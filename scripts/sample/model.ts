import type { Schedule } from './clock.ts';

/**
 * The season of every organization. A profile has the words for each name. Prices are in the price steps of the profile,
 * and include tax.
 */

export type SeatName = 'best' | 'good' | 'cheap' | 'standing' | 'stream';
export type ExtraName = 'talk' | 'workshop';
export type MerchandiseName = 'book' | 'shirt';
type BundleName = 'duo' | 'pass';
export type OfferName = SeatName | ExtraName | MerchandiseName | BundleName;

interface SeatCategory {
  readonly price: number;
  readonly compareAtPrice?: number;
  /** Of each bloc of numbered seats. */
  readonly numbered?: { readonly rows: number; readonly seatsPerRow: number };
  readonly hasForm?: true;
}

/** The TICKET offers that are sold alone. */
export const SEATS: Readonly<Record<SeatName, SeatCategory>> = {
  best: { price: 96, compareAtPrice: 110, numbered: { rows: 12, seatsPerRow: 14 } },
  good: { price: 72, numbered: { rows: 9, seatsPerRow: 18 } },
  cheap: { price: 45, numbered: { rows: 15, seatsPerRow: 22 } },
  standing: { price: 25, hasForm: true },
  stream: { price: 10 },
};

/** The TICKET offers that are sold only as an option, with a price for each of the first categories of an event. */
export const EXTRAS: Readonly<Record<ExtraName, readonly number[]>> = { talk: [10, 18], workshop: [12] };

interface Merchandise {
  readonly price: number;
  readonly compareAtPrice?: number;
  /** Price as an option of a ticket of the first category of each event. */
  readonly priceWithTicket?: number;
  readonly weightInGrams: number;
  readonly hasVariants?: true;
}

/** The PRODUCT offers. All events of a season hold them. */
export const MERCHANDISE: Readonly<Record<MerchandiseName, Merchandise>> = {
  book: { price: 16, compareAtPrice: 20, priceWithTicket: 12, weightInGrams: 240 },
  shirt: { price: 49, weightInGrams: 130, hasVariants: true },
};

/** An event and the offers of its tickets. */
export interface Production {
  readonly name: 'play' | 'gala' | 'tales' | 'online' | 'run' | 'tour';
  readonly schedule: Schedule;
  readonly place: 'house' | 'away' | 'tour' | 'town' | 'online';
  /** Relative demand for its tickets. */
  readonly popularity: number;
  readonly seats: readonly SeatName[];
  readonly extra?: ExtraName;
}

export const SEASON: readonly Production[] = [
  {
    name: 'play',
    schedule: { firstDay: -11, sessions: 20, weekdays: '23456', times: '20:30', minutes: 130 },
    place: 'house',
    popularity: 5,
    seats: ['best', 'good', 'cheap'],
    extra: 'talk',
  },
  {
    name: 'gala',
    schedule: { firstDay: -74, sessions: 1, weekdays: '6', times: '22:00', minutes: 240 },
    place: 'town',
    popularity: 2,
    seats: ['good', 'standing'],
  },
  {
    name: 'tales',
    schedule: { firstDay: 23, sessions: 8, weekdays: '36', times: '10:30 15:00', minutes: 50 },
    place: 'away',
    popularity: 3,
    seats: ['standing'],
    extra: 'workshop',
  },
  {
    name: 'online',
    schedule: { firstDay: -40, sessions: 9, weekdays: '1', times: '18:00', minutes: 75 },
    place: 'online',
    popularity: 1,
    seats: ['stream'],
  },
  {
    name: 'run',
    schedule: { firstDay: -130, sessions: 100, weekdays: '23457', times: '15:00 20:00', minutes: 165 },
    place: 'house',
    popularity: 8,
    seats: ['best', 'good', 'cheap'],
  },
  {
    name: 'tour',
    schedule: { firstDay: 58, sessions: 3, weekdays: '456', times: '19:30', minutes: 95 },
    place: 'tour',
    popularity: 2,
    seats: ['good', 'cheap'],
  },
];

/** The pricings of every seat category, in the order of their names in a profile. The first is the usual one. */
export const RATES = [
  { percent: 100, resaleEnabled: true },
  { percent: 70, resaleEnabled: true },
  { percent: 50, resaleEnabled: false },
  { percent: 0, resaleEnabled: false },
];

export interface Bundle {
  readonly name: BundleName;
  /** Price in percent of the single prices. */
  readonly percent: number;
  /** Those with a ticket of the first category in the bundle. A small season omits those that it does not have. */
  readonly productions: readonly Production['name'][];
  readonly ticketsEach: number;
  readonly hasBook: boolean;
}

/** The BUNDLE offers. */
export const BUNDLES: readonly Bundle[] = [
  { name: 'duo', percent: 85, productions: ['play'], ticketsEach: 2, hasBook: true },
  { name: 'pass', percent: 75, productions: ['play', 'tales', 'run'], ticketsEach: 1, hasBook: false },
];
