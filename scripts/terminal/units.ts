/** Figures as commands print them. */

/** Formats a number of things, such as `300,000`. */
export function count(value: number): string {
  return value.toLocaleString('en');
}

/** Formats a number of bytes in decimal units, such as `23.5 MB`. */
export function size(bytes: number): string {
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}

/** Formats a time span, such as `2.4 s`, `42 s` or `3 min 20 s`. */
export function timeSpan(ms: number): string {
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
