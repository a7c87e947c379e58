import { left, right, table } from '../terminal/table.ts';

/** The bound that a figure should keep to. */
export type Reach = { readonly atMost: number } | { readonly atLeast: number };

export type Unit = 'times' | 'ms' | 's' | 'MB' | 'requests';

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
  readonly summarize: (rounds: readonly number[]) => number;
}

export function rowOf({ rounds, summarize, ...figure }: Figure): Row {
  const measured = summarize(rounds);
  const { reach } = figure;
  return {
    ...figure,
    measured,
    spread: [Math.min(...rounds), Math.max(...rounds)],
    isReached: 'atMost' in reach ? measured <= reach.atMost : measured >= reach.atLeast,
  };
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
  console.log(table(columns, cells));
  console.log();
  for (const { name, note } of rows) console.log(`${name}: ${note}`);
}

export function format(value: number, unit: Unit): string {
  switch (unit) {
    case 'times':
      return `${value.toFixed(2)} times`;
    case 'ms':
      return `${value.toFixed(1)} ms`;
    case 's':
      return `${value.toFixed(2)} s`;
    case 'MB':
      return `${Math.round(value)} MB`;
    case 'requests':
      return String(value);
  }
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
