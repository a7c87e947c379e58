const LEAST_MS_BETWEEN = 100;

/** One line on the terminal that is written over; nothing where standard error is not a terminal. */
export function terminalProgress(stream = process.stderr): { show(text: string): void; clear(): void } {
  if (!stream.isTTY) return { show: () => undefined, clear: () => undefined };
  const write = (text: string) => stream.write(`\r${text}\u001b[K`);
  let shown = -Infinity;
  return {
    show: (text) => {
      if (performance.now() - shown < LEAST_MS_BETWEEN) return;
      shown = performance.now();
      write(text.slice(0, (stream.columns || 80) - 1));
    },
    clear: () => write(''),
  };
}
