/** The value that a share `q` (0 to 1) of the values does not pass: always one of them. NaN when there is none. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(0, Math.ceil(sorted.length * q) - 1)] ?? NaN;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function greatest(values: readonly number[]): number {
  return Math.max(...values);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
