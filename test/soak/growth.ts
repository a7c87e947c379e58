/** The growth of memory and descriptors over a soak. */

/** Share of the time in which the first samples are not compared: code, heaps and buffers grow to their size. */
const WARM_UP_SHARE = 0.2;

/** The measured quantities, each with the growth that is allowed, as a share and as an amount. */
const LIMITS = {
  'resident memory, MB': { share: 0.1, amount: 48 },
  'heap of the main thread, MB': { share: 0.1, amount: 16 },
  'descriptors without connections': { share: 0, amount: 16 },
};
export type Usage = Readonly<Record<keyof typeof LIMITS, number>>;

export interface Growth {
  readonly name: string;
  /** Medians of the first and the last third of the samples after the warm-up. */
  readonly first: number;
  readonly last: number;
  readonly isFlat: boolean;
}

/** Compares the last third of the samples, which are evenly spaced, with the first third after the warm-up. */
export function growthOf(samples: readonly Usage[]): Growth[] {
  const warm = samples.slice(Math.floor(samples.length * WARM_UP_SHARE));
  const third = Math.ceil(warm.length / 3);
  return (Object.keys(LIMITS) as (keyof Usage)[]).map((name) => {
    const { share, amount } = LIMITS[name];
    const [first, last] = [warm.slice(0, third), warm.slice(-third)].map((part) =>
      median(part.map(({ [name]: value }) => value)),
    );
    return { name, first, last, isFlat: last <= first * (1 + share) + amount };
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}
