/** FNV-1a, 32 bits (http://www.isthe.com/chongo/tech/comp/fnv/), over UTF-16 code units. */
export function hashText(text: string, seed = 0x811c9dc5): number {
  let value = seed;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}
