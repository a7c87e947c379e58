import type { Request } from 'express';
import type { Operation, PathParameter } from '../contract/operations.ts';

/** The path of an operation with its parameter, when it has one, put in. */
export function pathWith({ path }: Operation, parameter: string | undefined): string {
  return parameter === undefined ? path : path.replace(/\{\w+\}/, encodeURIComponent(parameter));
}

/** Returns the path of an operation as a pattern of Express. */
export function routePath({ path }: Operation): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** Returns the decoded value of a parameter in the path of a request. */
export function pathParameter({ params }: Request, { name }: PathParameter): string {
  const { [name]: value } = params;
  if (typeof value !== 'string') throw new TypeError(`the route has no parameter ${name}`);
  return value;
}

/** Whether a target is one of the API, whose responses all tell the version. */
export function isApiTarget(target: string): boolean {
  return target.startsWith('/v1/') || target === '/v1' || target.startsWith('/v1?');
}
