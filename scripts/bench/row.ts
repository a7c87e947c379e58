import { textTable } from './text-table.ts';

/** What a figure should reach. */
export type Reach = { readonly atMost: number } | { readonly atLeast: number };

export type Unit = 'times' | 'ms' | 's' | 'MB' | 'requests';

/** One figure of a bench, and whether it is what it should be. */
export interface Row {
  readonly name: string;
  /** How it was taken, and what belongs beside it. */
  readonly note: string;
  readonly unit: Unit;
  readonly reach: Reach;
  readonly measured: number;
  /** The least and the greatest of the rounds. */
  readonly spread: readonly [least: number, greatest: number];
  readonly isReached: boolean;
}

interface Figure extends Pick<Row, 'name' | 'note' | 'unit' | 'reach'> {
  /** What each round gave: one at least. */
  readonly rounds: readonly number[];
  /** What they give together. */
  readonly sumUp: (rounds: readonly number[]) => number;
}

export function rowOf({ rounds, sumUp, ...figure }: Figure): Row {
  const measured = sumUp(rounds);
  const { reach } = figure;
  return {
    ...figure,
    measured,
    spread: [Math.min(...rounds), Math.max(...rounds)],
    isReached: 'atMost' in reach ? measured <= reach.atMost : measured >= reach.atLeast,
  };
}

/** Rows as a table for the terminal, and below it their notes. */
export function printRows(rows: readonly Row[]): void {
  const cells = rows.map(({ name, unit, reach, measured, spread, isReached }) => [
    name,
    'atMost' in reach ? `at most ${show(reach.atMost, unit)}` : `at least ${show(reach.atLeast, unit)}`,
    show(measured, unit),
    spread.map((value) => show(value, unit)).join(' to '),
    isReached ? 'yes' : 'no',
  ]);
  console.log(textTable(['', 'reach', 'measured', 'spread', 'reached'], cells));
  console.log();
  for (const { name, note } of rows) console.log(`${name}: ${note}`);
}

export function show(value: number, unit: Unit): string {
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
