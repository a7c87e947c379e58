/** How many of 32 bits are 1: added up in pairs, nibbles and bytes (Warren, "Hacker's Delight", 5-1). */
export function countOnes(bits: number): number {
  bits -= (bits >>> 1) & 0x55555555;
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
