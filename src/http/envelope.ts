import type { PageOfRecords } from '../query/read.ts';
import type { Plan } from '../query/plan.ts';
import type { Body } from './respond.ts';

const HEAD = '{"items":[';

/**
 * The JSON text of a page.
 *
 * @param nextPage link to the page after this one, null when this is the last
 */
export function pageBody(
  { segments }: PageOfRecords,
  { page, perPage }: Plan,
  totalPages: number,
  nextPage: string | null,
): Body {
  // A link needs no escaping: what is not fit for an address is percent-encoded.
  const link = nextPage === null ? null : `"${nextPage}"`;
  const tail = `],"page":${page},"perPage":${perPage},"totalPages":${totalPages},"hasMore":${nextPage !== null},"nextPage":${link}}`;
  return [HEAD, ...segments, tail];
}
