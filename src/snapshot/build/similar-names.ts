/** Finds the intended name for a misspelled one. */

/** Shorter names resemble only themselves: almost any two of them are one edit apart. */
const MIN_LENGTH = 4;
/** Names of this length and more may differ by two edits. */
const LONG = 10;

/**
 * Returns the known name that a name resembles most, undefined when it resembles none.
 *
 * Names are similar when, regardless of letter case and punctuation, they are equal, differ by a typing mistake, or one
 * begins or ends with the other: `tikets`, `all-tickets` and `Tickets` resemble `tickets`; `price` resembles
 * `listPrice`.
 */
export function similarName(name: string, known: Iterable<string>): string | undefined {
  let similar: string | undefined;
  let fewest = Infinity;
  for (const candidate of known) {
    const edits = editsBetween(plain(name), plain(candidate));
    if (edits < fewest) [similar, fewest] = [candidate, edits];
  }
  return similar;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** Returns the number of edits between two names, Infinity when they are not similar. */
function editsBetween(a: string, b: string): number {
  const [shorter, longer] = a.length < b.length ? [a, b] : [b, a];
  if (shorter === longer) return 0;
  if (shorter.length < MIN_LENGTH) return Infinity;
  if (longer.startsWith(shorter) || longer.endsWith(shorter)) return longer.length - shorter.length;
  const permitted = longer.length < LONG ? 1 : 2;
  if (longer.length - shorter.length > permitted) return Infinity;
  const edits = editDistance(shorter, longer);
  return edits <= permitted ? edits : Infinity;
}

/** Counts the insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  // Row i has the distances between the first i letters of `a` and each beginning of `b`.
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(replaced, rows[i - 1][j] + 1, row[j - 1] + 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) row[j] = Math.min(row[j], rows[i - 2][j - 2] + 1);
    }
    rows.push(row);
  }
  return rows[a.length][b.length];
}
