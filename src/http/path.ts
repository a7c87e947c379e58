import type { Request } from 'express';
import type { Operation, PathParameter } from '../contract/operations.ts';

/** The path of an operation as Express writes it: `/v1/events/:event_id`. */
export function routeOf({ path }: Operation): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/** The path of an operation with its parameter, when it has one, put in. */
export function pathOf({ path }: Operation, value: string | undefined): string {
  return value === undefined ? path : path.replace(/\{\w+\}/, encodeURIComponent(value));
}

/** The decoded value of a path parameter. */
export function pathValue({ params }: Request, { name }: PathParameter): string {
  return String(params[name]);
}

/** Whether a target is one of the API, whose responses all tell the version. */
export function isApiTarget(target: string): boolean {
  return target.startsWith('/v1/') || target === '/v1' || target.startsWith('/v1?');
}
