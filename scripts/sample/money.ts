/** A currency of amounts. Computations use whole minor units (cents; yen have none), so that sums are exact. */
export interface Currency {
  readonly code: string;
  /** Minor units in one unit of the currency: 100 for EUR, 1 for JPY. */
  readonly minorUnits: number;
}

/** Converts minor units to the decimal amount of a record. */
export function amount(minor: number, currency: Currency): number {
  return minor / currency.minorUnits;
}

/** Returns `percent` of `price`, rounded to a multiple of `step`; all in minor units. */
export function percentOf(price: number, percent: number, step = 1): number {
  return Math.round((price * percent) / 100 / step) * step;
}

/** Returns the tax contained in `paid` at `rate` (a fraction), in minor units. */
export function taxWithin(paid: number, rate: number): number {
  return Math.round((paid * rate) / (1 + rate));
}
