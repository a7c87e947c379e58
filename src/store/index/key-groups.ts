import { sharedUint32s, UINT32_BYTES, type Uint32s } from '../memory/shared-arrays.ts';
import { KeyTableBuilder } from './key-table.ts';

/** Rows of smaller groups are gathered instead, since each group adds a range to a query. */
const LEAST_GROUP = 32;

/** Groups of rows that have the same keys, more than one. */
export type KeyGroups = ReturnType<typeof groupRows>;

/**
 * Groups the rows that have the same keys.
 * @param keyOf the keys of row r are keyOf[firstPair[r] … firstPair[r + 1]]
 */
export function groupRows(keyOf: Uint32s, firstPair: Uint32s, keyCount: number, leastGroup = LEAST_GROUP) {
  /** By row: its group + 1, or 0 for a row with one key or none, or with keys that too few rows share. */
  const groupOf = new Uint32Array(firstPair.length - 1);
  const sets = new KeyTableBuilder();
  const sizes: number[] = [];
  // The keys of each row in ascending order, so that equal sets have equal bytes.
  const sorted = keyOf.slice();
  const bytes = new Uint8Array(sorted.buffer);
  for (let row = 0; row < groupOf.length; row++) {
    const [from, to] = [firstPair[row], firstPair[row + 1]];
    if (to - from < 2) continue;
    if (!isAscending(sorted, from, to)) sorted.subarray(from, to).sort();
    const number = sets.intern(bytes, from * UINT32_BYTES, to * UINT32_BYTES);
    sizes[number] = (sizes[number] ?? 0) + 1;
    groupOf[row] = number + 1;
  }
  let groupCount = 0;
  const groupOfSet = sizes.map((size) => (size < leastGroup ? 0 : ++groupCount));
  for (let row = 0; row < groupOf.length; row++) {
    if (groupOf[row] > 0) groupOf[row] = groupOfSet[groupOf[row] - 1];
  }
  const keysOfGroups = groupOfSet.flatMap((group, set) =>
    group === 0 ? [] : [new Uint32Array(sets.key(set).slice().buffer)],
  );
  return { groupCount, groupOf, ...groupsByKey(keysOfGroups, keyCount) };
}

function isAscending(values: Uint32s, from: number, to: number): boolean {
  for (let i = from + 1; i < to; i++) if (values[i] < values[i - 1]) return false;
  return true;
}

/** Returns the groups of each key. Those of key k are groups[firsts[k] … firsts[k + 1]]. */
function groupsByKey(keysOfGroups: readonly Uint32s[], keyCount: number) {
  const firsts = sharedUint32s(keyCount + 1);
  for (const keys of keysOfGroups) for (const key of keys) firsts[key + 1]++;
  for (let key = 0; key < keyCount; key++) firsts[key + 1] += firsts[key];
  const next = firsts.slice();
  const groups = sharedUint32s(firsts[keyCount]);
  keysOfGroups.forEach((keys, group) => {
    for (const key of keys) groups[next[key]++] = group;
  });
  return { firsts, groups };
}
