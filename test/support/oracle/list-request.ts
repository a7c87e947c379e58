import { isDeepStrictEqual } from 'node:util';
import { type ListOperation, pathWith } from '../../../src/contract/operations.ts';
import type { Oracle } from './oracle.ts';
import type { RandomQuery } from './random-query.ts';

/** Requests for lists, and their comparison with the oracle. */

/** Reports whether a text can be a segment of a path: URL parsers drop segments of dots. */
export function isPathSegment(text: string): boolean {
  return text.isWellFormed() && !['', '.', '..'].includes(text);
}

/** Returns path and query of a request. */
export function targetOf(operation: ListOperation, { parts, parentId = '' }: RandomQuery): string {
  const path = pathWith(operation, parentId);
  const query = parts.map(([name, text]) => `${name}=${encodeURIComponent(text)}`).join('&');
  return query === '' ? path : `${path}?${query}`;
}

/** Compares a response with that of the oracle. Returns the difference; undefined when there is none. */
export function pageDifference(
  oracle: Oracle,
  operation: ListOperation,
  { values, parentId }: RandomQuery,
  { status, text }: { readonly status: number; readonly text: string },
): string | undefined {
  const expected = oracle.page(operation.id, values, parentId, Date.now());
  const [page, perPage] = [BigInt(values.get('page') ?? 1), Number(values.get('perPage') ?? 25)];
  const totalPages = Math.ceil((expected?.totalRecords ?? 0) / perPage);
  const expectedStatus = expected === undefined ? 404 : page > 1n && page > totalPages ? 204 : 200;
  if (status !== expectedStatus) return `${status} instead of ${expectedStatus}: ${text.slice(0, 200)}`;
  if (status !== 200) return undefined;
  const body = JSON.parse(text) as { items: unknown[]; totalPages: number; nextPage: string | null };
  if (body.totalPages !== totalPages) return `${body.totalPages} instead of ${totalPages} pages`;
  if ((body.nextPage === null) !== page >= totalPages) return `the next page is ${String(body.nextPage)}`;
  if (isDeepStrictEqual(body.items, expected?.records)) return undefined;
  return `items ${text.slice(0, 500)} instead of ${JSON.stringify(expected?.records).slice(0, 500)}`;
}
