/**
 * The request target (RFC 9112, section 3.2) in the one form that routing and query parsing read: it begins
 * with the path and holds nothing but visible ASCII. The host of an absolute target is dropped, so is a
 * fragment; bytes beyond ASCII are percent-encoded, so that UTF-8 that was sent as it is reads as UTF-8.
 */
export function normalTarget(target: string): string {
  if (/^\/[\x21\x22\x24-\x7e]*$/.test(target)) return target;
  const [withoutFragment] = target.split('#', 1);
  const withoutHost = withoutFragment.replace(/^https?:\/\/[^/?]*/i, '');
  const rooted = withoutHost.startsWith('/') ? withoutHost : `/${withoutHost}`;
  // Node gives every byte of the target as one character.
  return rooted.replace(/[^\x21-\x7e]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** What follows the first `?` of a target; empty when there is none. */
export function queryOf(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? '' : target.slice(mark + 1);
}
