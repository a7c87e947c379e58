import type { Request } from 'express';
import type { Operation, PathParameter } from '../contract/operations.ts';

/** Request targets (RFC 9112, section 3.2) and the paths of operations. */

/**
 * Reduces a target to path and query, the form that routing and query parsing read. Drops the host of an absolute
 * target, and a fragment. The HTTP parser accepts only visible ASCII.
 */
export function normalizeTarget(target: string): string {
  if (target.startsWith('/') && !target.includes('#')) return target;
  const [withoutFragment] = target.split('#', 1);
  const withoutHost = withoutFragment.replace(/^https?:\/\/[^/?]*/i, '');
  return withoutHost.startsWith('/') ? withoutHost : `/${withoutHost}`;
}

/** Returns the part of a target after the first `?`; empty when there is none. */
export function queryOf(target: string): string {
  const delimiter = target.indexOf('?');
  return delimiter < 0 ? '' : target.slice(delimiter + 1);
}

/** Returns whether a target belongs to the API, whose responses all name the version. */
export function isApiTarget(target: string): boolean {
  return target.startsWith('/v1/') || target === '/v1' || target.startsWith('/v1?');
}

/** Returns the path of an operation as an Express pattern. */
export function routePath({ path }: Operation): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** Returns the path of an operation with the value of its parameter, if any. */
export function pathWith({ path }: Operation, parameter: string | undefined): string {
  return parameter === undefined ? path : path.replace(/\{\w+\}/, encodeURIComponent(parameter));
}

/** Returns the decoded value of a path parameter. */
export function pathParameter({ params }: Request, { name }: PathParameter): string {
  const { [name]: value } = params;
  if (typeof value !== 'string') throw new TypeError(`the route has no parameter ${name}`);
  return value;
}
