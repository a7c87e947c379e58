import type { Request } from 'express';
import type { Operation } from '../contract/operations.ts';
import { PREVIEW, STABLE, VERSION_HEADER } from '../contract/releases.ts';
import type { Edition, Editions } from './editions.ts';
import { Problem } from './problem.ts';

const HEADER_KEY = VERSION_HEADER.toLowerCase();
/** How much of an invalid value is repeated to the caller. */
const MAX_ECHO = 40;

const NOT_IN_THIS_VERSION = new Problem(
  404,
  `This operation is not in the version asked for; it needs the header ${VERSION_HEADER}: ${PREVIEW}.`,
);

/** The edition that a response tells: the one asked for, or the stable one when that is not valid. */
export function editionToTell(request: Request, editions: Editions, now: number): Edition {
  return editions.select(versionAskedFor(request), now) ?? editions.stable(now);
}

/**
 * The edition in which an operation is asked for.
 * @throws Problem 400 when the version is not valid, 404 when the operation is not in it.
 */
export function editionWith(
  operation: Operation,
  request: Request,
  editions: Editions,
  now: number,
): Edition {
  const asked = versionAskedFor(request);
  const edition = editions.select(asked, now);
  if (edition === undefined) throw invalidVersion(asked ?? '');
  if (!edition.operations.has(operation.id)) throw NOT_IN_THIS_VERSION;
  return edition;
}

/** A header given twice arrives as one with a comma, which no version has. */
function versionAskedFor({ headers }: Request): string | undefined {
  const value = headers[HEADER_KEY];
  return Array.isArray(value) ? value.join() : value;
}

function invalidVersion(asked: string): Problem {
  const value = asked.length > MAX_ECHO ? `${asked.slice(0, MAX_ECHO)}…` : asked;
  return new Problem(
    400,
    `"${value}" is an invalid API version: ${VERSION_HEADER} takes ${STABLE}, ${PREVIEW} or a date as YYYY-MM-DD.`,
  );
}
