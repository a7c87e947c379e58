import { sharedUint32s, UINT32_BYTES, type Uint32s } from '../memory/shared-arrays.ts';
import { KeyTableBuilder } from './key-table.ts';

/** A group of fewer rows costs more as a range of its own than its rows cost to gather. */
const LEAST_GROUP = 32;

/** Rows that have the same several keys. */
export interface KeyGroups {
  readonly groupCount: number;
  /** For each row its group + 1, or 0: it has one key or none, or shares its keys with too few rows. */
  readonly groupOf: Uint32s;
  /** firsts[k] … firsts[k + 1] are the groups of key k in … */
  readonly firsts: Uint32s;
  /** … the numbers of groups, one key's after the other's. */
  readonly groups: Uint32s;
}

/**
 * @param keyOf the keys of all rows, one row's after the other's
 * @param firstPair where those of each row begin, and of the last one end
 */
export function groupRows(
  keyOf: Uint32s,
  firstPair: Uint32s,
  keyCount: number,
  leastGroup = LEAST_GROUP,
): KeyGroups {
  const groupOf = new Uint32Array(firstPair.length - 1);
  const sets = new KeyTableBuilder();
  const sizes: number[] = [];
  // The keys of each row in ascending order, so that the same keys are the same set.
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

function groupsByKey(
  keysOfGroups: readonly Uint32s[],
  keyCount: number,
): Pick<KeyGroups, 'firsts' | 'groups'> {
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
