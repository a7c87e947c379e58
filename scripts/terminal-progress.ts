const INTERVAL_MS = 100;

/** Shows progress on one line of the terminal. Writes nothing unless standard error is a terminal. */
export function terminalProgress(stream = process.stderr): { show(text: string): void; clear(): void } {
  if (!stream.isTTY) return { show: () => undefined, clear: () => undefined };
  const write = (text: string) => stream.write(`\r${text}\u001b[K`);
  let shown = -Infinity;
  return {
    show: (text) => {
      if (performance.now() - shown < INTERVAL_MS) return;
      shown = performance.now();
      write(text.slice(0, (stream.columns || 80) - 1));
    },
    clear: () => write(''),
  };
}
