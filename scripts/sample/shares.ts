/**
 * `total` (a whole number) divided into whole shares in proportion to `weights` (not all zero), their sum being
 * exactly `total`. What rounding leaves over goes to the largest remainders, ties to the first.
 */
export function sharesOf(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  const exact = weights.map((weight) => (total * weight) / sum);
  const shares = exact.map(Math.floor);
  const left = total - shares.reduce((a, b) => a + b, 0);
  const byRemainder = exact
    .map((share, index) => ({ index, remainder: share - shares[index] }))
    .sort((a, b) => b.remainder - a.remainder || a.index - b.index);
  for (const { index } of byRemainder.slice(0, left)) shares[index]++;
  return shares;
}
