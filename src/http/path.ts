import type { Operation } from '../contract/operations.ts';

/** The path of an operation with its parameter, when it has one, put in. */
export function pathWith({ path }: Operation, parameter: string): string {
  return parameter === '' ? path : path.replace(/\{\w+\}/, encodeURIComponent(parameter));
}

/** Whether a target is one of the API, whose responses all tell the version. */
export function isApiTarget(target: string): boolean {
  return target.startsWith('/v1/') || target === '/v1' || target.startsWith('/v1?');
}
