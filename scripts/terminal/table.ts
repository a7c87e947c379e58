import { printable } from './print.ts';

/** A column of a text table. */
interface Column {
  readonly title: string;
  readonly pad: (cell: string, width: number) => string;
}

export function left(title: string): Column {
  return { title, pad: (cell, width) => cell.padEnd(width) };
}

export function right(title: string): Column {
  return { title, pad: (cell, width) => cell.padStart(width) };
}

/**
 * Returns a text table with a line for each row. A line of titles precedes them unless all titles are empty.
 * Texts that may have wide characters belong into the last column: widths count UTF-16 code units.
 */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const titles = columns.map(({ title }) => title);
  const lines = (titles.some((title) => title !== '') ? [titles, ...rows] : rows).map((row) =>
    row.map(printable),
  );
  const widths = columns.map((_, column) => Math.max(...lines.map((row) => row[column].length)));
  return lines
    .map((row) =>
      row
        .map((cell, column) => columns[column].pad(cell, widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Returns text with each line indented by two spaces. */
export function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

/** Returns a line for each field, indented: its name, then its value, aligned. */
export function fields(values: Readonly<Record<string, string>>): string {
  return indented(table([left(''), left('')], Object.entries(values)));
}
