/** Output of commands, in which a text from a file cannot control the terminal. */

/** Prints lines on standard output, with the escapes of `printable`. */
export function print(lines: string): void {
  console.log(lines.split('\n').map(printable).join('\n'));
}

/** Prints lines on standard error, with the escapes of `printable`. */
export function warnLines(lines: string): void {
  lines.split('\n').forEach(warn);
}

/** Prints one line on standard error, with the escapes of `printable`. */
export function warn(line: string): void {
  console.error(printable(line));
}

/** Escapes characters that control a terminal, end a line, or change the direction of a text. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}
