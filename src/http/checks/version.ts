import type { Request } from 'express';
import type { Operation } from '../../contract/operations.ts';
import {
  LATEST_VERSION_HEADER,
  PREVIEW,
  type Release,
  selectVersion,
  STABLE,
  VERSION_HEADER,
} from '../../contract/releases.ts';
import { type HeaderList, Problem } from '../response/problem.ts';

/** A version with the headers that name it. */
export type ApiVersion = ReturnType<typeof selectVersion> & { readonly headers: HeaderList };

/** Characters of an invalid value that the problem repeats. */
const MAX_ECHO = 40;

const NOT_IN_THIS_VERSION = new Problem(
  404,
  `This operation is not part of the requested API version; it requires the header ${VERSION_HEADER}: ${PREVIEW}.`,
  { reason: 'version' },
);

const DAY_MS = 86_400_000;

export type VersionResolver = ReturnType<typeof versionResolver>;

/**
 * Creates the function that resolves a version header, undefined without one, at a time in milliseconds since the epoch.
 * It keeps the versions of the current day in UTC, which decides the releases in force.
 * @param releases earliest first
 */
export function versionResolver(releases: readonly Release[]) {
  const kept = new Map<string | undefined, ApiVersion>();
  let day = NaN;
  let today = '';
  return (header: string | undefined, now: number): ApiVersion => {
    const dayOfRequest = Math.floor(now / DAY_MS);
    if (dayOfRequest !== day) {
      day = dayOfRequest;
      today = new Date(now).toISOString().slice(0, 10);
      kept.clear();
    }
    const known = kept.get(header);
    if (known !== undefined) return known;
    const selected = selectVersion(header, releases, today);
    const headers = [VERSION_HEADER, selected.name, LATEST_VERSION_HEADER, selected.latest];
    const version = { ...selected, headers };
    // Clients can send any number of other values.
    if (header === undefined || header === version.name) kept.set(header, version);
    return version;
  };
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
  if (version.operations?.has(operation.id) === false) throw NOT_IN_THIS_VERSION;
}
