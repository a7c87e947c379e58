import { isDeepStrictEqual } from 'node:util';
import type { Random } from '../../../scripts/sample/random.ts';
import { type ListOperation, OPERATIONS, pathWith } from '../../../src/contract/operations.ts';
import { textIn } from '../../../src/snapshot/format/json-values.ts';
import type { Oracle } from './oracle.ts';
import type { Entry, Organization } from './random-organization.ts';
import { QueryMaker, type RandomQuery } from './random-query.ts';

/** Requests for pages and records, and the comparison of their responses with the oracle. */

export const LISTS = OPERATIONS.filter((operation) => operation.kind === 'list');
const RECORDS = OPERATIONS.filter((operation) => operation.kind === 'retrieve');

interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface Read {
  readonly target: string;
  /** Whether the response depends on the time, as that of events does. */
  readonly isTimed: boolean;
  /** Compares a response with that of the oracle. Returns the difference; undefined when there is none. */
  readonly difference: (answer: Answer, oracle: Oracle) => string | undefined;
}

/**
 * Returns a request for a page or a record.
 * @param all organizations from which values may be, too
 */
export function randomRead(random: Random, organization: Organization, all: readonly Organization[]): Read {
  if (random.chance(0.6)) {
    const operation = random.pick(LISTS);
    const query = randomQuery(random, operation, organization, all);
    return {
      target: targetOf(operation, query),
      isTimed: operation.collection === 'events',
      difference: (answer, oracle) => pageDifference(oracle, operation, query, answer),
    };
  }
  const operation = random.pick(RECORDS);
  const { collection } = operation;
  const owner = random.chance(0.5) ? organization : random.pick(all);
  const id = randomId(random, owner[collection]);
  return {
    target: pathWith(operation, id),
    isTimed: collection === 'events',
    difference: ({ status, text }, oracle) => {
      const expected = oracle.record(operation.id, id, Date.now());
      const isRight =
        expected === undefined
          ? status === 404
          : status === 200 && isDeepStrictEqual(JSON.parse(text), expected);
      return isRight ? undefined : `${status} ${text.slice(0, 500)}`;
    },
  };
}

/** Returns a query that can be sent: a path has no empty segment, none of dots, and no half of a character. */
export function randomQuery(
  random: Random,
  operation: ListOperation,
  organization: Organization,
  all: readonly Organization[],
): RandomQuery {
  const maker = new QueryMaker(random, all);
  for (;;) {
    const query = maker.query(operation, organization);
    if (query.parentId === undefined || isPathSegment(query.parentId)) return query;
  }
}

/** Returns the id of one of the records that a path can have; `none` when there is none. */
export function randomId(random: Random, entries: readonly Entry[]): string {
  const ids = entries.map(({ record }) => textIn(Object.values(record)[0])).filter(isPathSegment);
  return ids.length === 0 ? 'none' : random.pick(ids);
}

function isPathSegment(text: string): boolean {
  return text.isWellFormed() && !['', '.', '..'].includes(text);
}

/** Returns path and query of a request. */
export function targetOf(operation: ListOperation, { parts, parentId = '' }: RandomQuery): string {
  const path = pathWith(operation, parentId);
  const query = parts.map(([name, text]) => `${name}=${encodeURIComponent(text)}`).join('&');
  return query === '' ? path : `${path}?${query}`;
}

/** Compares a page with that of the oracle. Returns the difference; undefined when there is none. */
export function pageDifference(
  oracle: Oracle,
  operation: ListOperation,
  { values, parentId }: RandomQuery,
  { status, text }: Answer,
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
