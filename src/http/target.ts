import type { Request } from 'express';
import type { Operation, PathParameter } from '../contract/operations.ts';

/** Request targets (RFC 9112, section 3.2) and the paths of operations. */

/**
 * Brings a target into the one form that routing and query parsing read: it begins with the path. The host of an absolute target is
 * dropped, and so is a fragment. The HTTP parser lets nothing but visible ASCII through.
 */
export function normalTarget(target: string): string {
  if (target.startsWith('/') && !target.includes('#')) return target;
  const [withoutFragment] = target.split('#', 1);
  const withoutHost = withoutFragment.replace(/^https?:\/\/[^/?]*/i, '');
  return withoutHost.startsWith('/') ? withoutHost : `/${withoutHost}`;
}

/** Returns what follows the first `?` of a target; empty when there is none. */
export function queryOf(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? '' : target.slice(mark + 1);
}

/** Whether a target is one of the API, whose responses all name the version. */
export function isApiTarget(target: string): boolean {
  return target.startsWith('/v1/') || target === '/v1' || target.startsWith('/v1?');
}

/** Returns the path of an operation as a pattern of Express. */
export function routePath({ path }: Operation): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** Returns the path of an operation with its parameter, if it has one, put in. */
export function pathWith({ path }: Operation, parameter: string | undefined): string {
  return parameter === undefined ? path : path.replace(/\{\w+\}/, encodeURIComponent(parameter));
}

/** Returns the decoded value of a parameter in the path of a request. */
export function pathParameter({ params }: Request, { name }: PathParameter): string {
  const { [name]: value } = params;
  if (typeof value !== 'string') throw new TypeError(`the route has no parameter ${name}`);
  return value;
}
