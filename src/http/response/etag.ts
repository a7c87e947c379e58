/**
 * Returns the entity tag of a response. Content, version, origin and target determine its bytes, so the tag needs no
 * hash of them.
 *
 * @param contentTag tag of the content, without `"` and `,`
 * @param origin scheme and host of the links in the response
 */
export function entityTag(
  contentTag: string,
  version: string | undefined,
  origin: string,
  target: string,
): string {
  return `"${contentTag}.${version}.${hashText(target, hashText(origin))}"`;
}

/** FNV-1a, 32 bits (http://www.isthe.com/chongo/tech/comp/fnv/), over UTF-16 code units. */
function hashText(text: string, seed = 0x811c9dc5): number {
  let value = seed;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}

/** Returns whether `If-None-Match` lists a tag, by weak comparison (RFC 9110, section 13.1.2). `*` matches no tag here. */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((listed) => listed.trim().replace(/^W\//, '') === tag);
}

/** Returns whether `If-None-Match` is `*`, which matches any existing representation. */
export function matchesAnyTag(ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch?.trim() === '*';
}
