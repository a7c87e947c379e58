import type { Request } from 'express';
import type { Operation } from '../../contract/operations.ts';
import {
  type ApiVersion,
  LATEST_VERSION_HEADER,
  PREVIEW,
  STABLE,
  VERSION_HEADER,
} from '../../contract/releases.ts';
import { type HeaderList, Problem } from '../response/problem.ts';

/** Characters of an invalid value that the problem repeats. */
const MAX_ECHO = 40;

const NOT_IN_THIS_VERSION = new Problem(
  404,
  `This operation is not part of the requested API version; it requires the header ${VERSION_HEADER}: ${PREVIEW}.`,
  { reason: 'version' },
);

/** Returns the headers that name a version. */
export function versionHeaders({ name, latest }: ApiVersion): HeaderList {
  return [VERSION_HEADER, name, LATEST_VERSION_HEADER, latest];
}

/**
 * Checks that the requested version is valid and has the operation.
 * @throws Problem 400 for an invalid version, 404 for an operation outside of the version
 */
export function checkVersion(operation: Operation, request: Request, version: ApiVersion | undefined): void {
  if (!version?.isValid) {
    const header = request.get(VERSION_HEADER) ?? '';
    const value = header.length > MAX_ECHO ? `${header.slice(0, MAX_ECHO)}…` : header;
    const form = `${VERSION_HEADER} must be ${STABLE}, ${PREVIEW} or a date as YYYY-MM-DD`;
    throw new Problem(400, `"${value}" is an invalid API version: ${form}.`, { reason: 'version' });
  }
  if (!version.has(operation.id)) throw NOT_IN_THIS_VERSION;
}
