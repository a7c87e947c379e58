/** Finds the intended name for a misspelt one. */

/** Names of this length and more may differ by two edits. */
const LONG = 10;

/**
 * Returns the known name that a name resembles most, undefined when it resembles none.
 *
 * Names are similar when, regardless of letter case and punctuation, they are equal, differ by a typing mistake, or one
 * begins or ends with the other: `tikets`, `all-tickets` and `Tickets` resemble `tickets`; `price` resembles
 * `listPrice`.
 * @param least the least lengths of a name with a mistake, since almost any two shorter ones are one edit apart, and of
 * the beginning or end of another
 * @param stem length of a common beginning that suffices, whatever follows it
 */
export function similarName(
  name: string,
  known: Iterable<string>,
  least = { mistaken: 4, beginning: 4, end: 4 },
  stem = Infinity,
): string | undefined {
  let similar: string | undefined;
  let fewest = Infinity;
  for (const candidate of known) {
    const [shorter, longer] = [plain(name), plain(candidate)].sort((a, b) => a.length - b.length);
    const { length } = shorter;
    const common = commonBeginning(shorter, longer);
    const begins = length >= least.beginning && common >= Math.min(length, stem);
    const isPart = begins || (length >= least.end && longer.endsWith(shorter));
    const edits = isPart ? longer.length - (begins ? common : length) : editDistance(shorter, longer);
    const permitted = length < least.mistaken ? 0 : longer.length < LONG ? 1 : 2;
    if ((isPart || edits <= permitted) && edits < fewest) [similar, fewest] = [candidate, edits];
  }
  return similar;
}

/**
 * Returns the known variable that the name of an environment variable resembles. The environment has the variables of
 * many programs, so fewer names are similar: those that are equal, differ by a typing mistake, or have a long beginning in
 * common. `SNAPSHOT_DIRECTORY` resembles `SNAPSHOT_DIR`; `HOSTNAME` and `DB_HOST` do not resemble `HOST`.
 */
export function similarVariable(name: string, known: Iterable<string>): string | undefined {
  return similarName(name, known, { mistaken: 5, beginning: 9, end: Infinity }, 9);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

function commonBeginning(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
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
