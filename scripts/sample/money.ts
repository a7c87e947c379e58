/**
 * Money is an integer of minor units (cents, or yen, which have none) in all that is computed, so that sums are
 * exact; it becomes a decimal number only when a record is written.
 */
export interface Currency {
  readonly code: string;
  /** Minor units in one of the currency: 100 for EUR, 1 for JPY. */
  readonly minorUnits: number;
}

/** The decimal amount that a record shows. */
export function amount(minor: number, currency: Currency): number {
  return minor / currency.minorUnits;
}

/** `percent` of `price`, rounded to a multiple of `step`; all in minor units. */
export function percentOf(price: number, percent: number, step = 1): number {
  return Math.round((price * percent) / 100 / step) * step;
}

/** The tax contained in `paid` at `rate` (a fraction), in minor units. */
export function taxWithin(paid: number, rate: number): number {
  return Math.round((paid * rate) / (1 + rate));
}
