/**
 * The entity tag of an answer: what its content, its version and its address are decide its bytes, so they
 * stand in for a hash of them.
 *
 * @param contentTag tag of the content, free of `"` and `,`
 * @param origin scheme and host that links in the answer begin with
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

/**
 * Whether an If-None-Match header names a tag (RFC 9110, section 13.1.2: the comparison is the weak one).
 * `*` names none here: it asks whether there is anything at all.
 */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === tag) return true;
  return ifNoneMatch.split(',').some((listed) => listed.trim().replace(/^W\//, '') === tag);
}

export function matchesAnyTag(ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch?.trim() === '*';
}
