import type { PageOfRecords } from '../query/read.ts';
import type { Plan } from '../query/plan.ts';

const HEAD = '{"items":[';

/**
 * The JSON text of a page, in one buffer of its exact size.
 *
 * @param nextPage link to the page after this one, null when this is the last
 */
export function pageBody(
  { segments, byteLength }: PageOfRecords,
  { page, perPage }: Plan,
  totalPages: number,
  nextPage: string | null,
): Buffer {
  const link = JSON.stringify(nextPage);
  const tail = `],"page":${page},"perPage":${perPage},"totalPages":${totalPages},"hasMore":${nextPage !== null},"nextPage":${link}}`;
  const body = Buffer.allocUnsafe(HEAD.length + byteLength + Buffer.byteLength(tail));
  let at = body.write(HEAD);
  for (const segment of segments) {
    body.set(segment, at);
    at += segment.length;
  }
  body.write(tail, at);
  return body;
}
