/** Cells in columns for the terminal: the first to the left, the others to the right. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((cells) => cells[column].length)));
  const text = lines.map((cells) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])))
      .join('   '),
  );
  text.splice(1, 0, widths.map((width) => '─'.repeat(width)).join('   '));
  return text.join('\n');
}
