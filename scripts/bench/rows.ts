import { left, right, table } from '../terminal/table.ts';

/** The bound that a figure should keep to. */
type Reach = { readonly atMost: number } | { readonly atLeast: number };

/** Units of figures, each with its number of decimals. */
const DECIMALS = { times: 2, µs: 1, ms: 2, s: 2, MB: 0, 'MB/s': 0, requests: 0, 'requests/s': 0 };
type Unit = keyof typeof DECIMALS;

/** One figure of the bench, and whether it is within its bound. */
export interface Row {
  readonly name: string;
  /** How the figure is taken, and related figures. */
  readonly note: string;
  readonly unit: Unit;
  readonly reach: Reach;
  readonly measured: number;
  /** Least and greatest value of the rounds. */
  readonly spread: readonly [least: number, greatest: number];
  readonly isReached: boolean;
}

interface Figure extends Pick<Row, 'name' | 'note' | 'unit' | 'reach'> {
  /** The value of each round; at least one. */
  readonly rounds: readonly number[];
  readonly summarize?: (rounds: readonly number[]) => number;
}

export function rowOf({ rounds, summarize = median, ...figure }: Figure): Row {
  const measured = summarize(rounds);
  const { reach } = figure;
  return {
    ...figure,
    measured,
    spread: [Math.min(...rounds), Math.max(...rounds)],
    isReached: 'atMost' in reach ? measured <= reach.atMost : measured >= reach.atLeast,
  };
}

interface Ratio extends Omit<Figure, 'rounds' | 'summarize'> {
  /** Unit of both figures. */
  readonly unit: Unit;
  /** The two figures of each round. */
  readonly pairs: readonly (readonly [figure: number, against: number])[];
}

/** Returns the row of a figure as a multiple of another one of the same round. */
export function ratioRow({ name, note, unit, reach, pairs }: Ratio): Row {
  const [figure, against] = [0, 1].map((i) => format(median(pairs.map((pair) => pair[i])), unit));
  return rowOf({
    name,
    note: `${figure} against ${against}; ${note}`,
    unit: 'times',
    reach,
    rounds: pairs.map(([figure, against]) => figure / against),
  });
}

/** Prints rows as a table, then their notes. */
export function printRows(rows: readonly Row[]): void {
  const cells = rows.map(({ name, unit, reach, measured, spread, isReached }) => [
    name,
    'atMost' in reach ? `at most ${format(reach.atMost, unit)}` : `at least ${format(reach.atLeast, unit)}`,
    format(measured, unit),
    spread.map((value) => format(value, unit)).join(' to '),
    isReached ? 'yes' : 'no',
  ]);
  const columns = [left(''), ...['REACH', 'MEASURED', 'SPREAD', 'REACHED'].map(right)];
  console.log(`${table(columns, cells)}\n`);
  for (const { name, note } of rows) console.log(`${name}: ${note}`);
}

export function format(value: number, unit: Unit): string {
  return `${value.toFixed(DECIMALS[unit])} ${unit}`;
}

/** Returns the quantile `q` (0 to 1) by nearest rank: always one of the values, NaN when there is none. */
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
