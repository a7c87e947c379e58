/**
 * The request target (RFC 9112, section 3.2) in the one form that routing and query parsing read: it begins
 * with the path. The host of an absolute target is dropped, so is a fragment. The HTTP parser has let nothing
 * but visible ASCII through.
 */
export function normalTarget(target: string): string {
  if (target.startsWith('/') && !target.includes('#')) return target;
  const [withoutFragment] = target.split('#', 1);
  const withoutHost = withoutFragment.replace(/^https?:\/\/[^/?]*/i, '');
  return withoutHost.startsWith('/') ? withoutHost : `/${withoutHost}`;
}

/** What follows the first `?` of a target; empty when there is none. */
export function queryOf(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? '' : target.slice(mark + 1);
}
