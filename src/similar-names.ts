/** Finds the intended name for a misspelt one. */

/** Shorter names resemble only themselves: almost any two of them are one edit apart. */
const MIN_LENGTH = 4;
const MIN_VARIABLE_LENGTH = 5;
/** Letters that two variables have in common at their beginnings. */
const MIN_BEGINNING = 9;
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
  return mostSimilar(name, known, (a, b) => {
    const [shorter, longer] = byLength(a, b);
    if (shorter.length >= MIN_LENGTH && (longer.startsWith(shorter) || longer.endsWith(shorter)))
      return longer.length - shorter.length;
    return mistakesBetween(a, b, MIN_LENGTH);
  });
}

/**
 * Returns the known variable that the name of an environment variable resembles most, undefined when it resembles none.
 *
 * The environment has the variables of many programs, so fewer names are similar than by `similarName`: those that are
 * equal, differ by a typing mistake, or have a long beginning in common. `SNAPSHOT_DIRS` and `SNAPSHOT_DIRECTORY`
 * resemble `SNAPSHOT_DIR`; `HOSTNAME` and `DB_HOST` do not resemble `HOST`.
 */
export function similarVariable(name: string, known: Iterable<string>): string | undefined {
  return mostSimilar(name, known, (a, b) => {
    const common = commonBeginning(a, b);
    if (common >= MIN_BEGINNING) return Math.max(a.length, b.length) - common;
    return mistakesBetween(a, b, MIN_VARIABLE_LENGTH);
  });
}

/** Returns the name with the fewest edits, which is not similar when there are infinitely many. */
function mostSimilar(
  name: string,
  known: Iterable<string>,
  editsBetween: (a: string, b: string) => number,
): string | undefined {
  let similar: string | undefined;
  let fewest = Infinity;
  for (const candidate of known) {
    const [a, b] = [plain(name), plain(candidate)];
    const edits = a === b ? 0 : editsBetween(a, b);
    if (edits < fewest) [similar, fewest] = [candidate, edits];
  }
  return similar;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

function byLength(a: string, b: string): [shorter: string, longer: string] {
  return a.length < b.length ? [a, b] : [b, a];
}

function commonBeginning(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** Returns the number of typing mistakes between two names, Infinity for too many, or when a name is too short. */
function mistakesBetween(a: string, b: string, minLength: number): number {
  const [shorter, longer] = byLength(a, b);
  if (shorter.length < minLength) return Infinity;
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
