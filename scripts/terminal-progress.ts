/** One line on the terminal that is written over; nothing where standard error is not a terminal. */
export function terminalProgress(stream = process.stderr): { show(text: string): void; clear(): void } {
  if (!stream.isTTY) return { show: () => undefined, clear: () => undefined };
  const write = (text: string) => stream.write(`\r${text}\u001b[K`);
  return {
    show: (text) => write(text.slice(0, stream.columns - 1)),
    clear: () => write(''),
  };
}
