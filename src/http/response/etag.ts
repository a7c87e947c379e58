import { crc32 } from 'node:zlib';
import { CONTENT_CODINGS, type ContentCoding } from '../../contract/headers.ts';
import type { HeaderList } from './problem.ts';

/**
 * Returns the entity tag of a response without content coding. Content, version, origin and target determine its
 * bytes, so the tag needs no hash of them.
 *
 * @param contentTag tag of the content, without `"` and `,`
 * @param origin scheme and host of the links in the response
 */
export function entityTag(
  contentTag: string,
  version: string | undefined,
  origin: string,
  target: string,
): string {
  return `"${contentTag}.${version}.${crc32(target, crc32(origin))}"`;
}

/** Returns the entity tag of a response with a content coding, if any, from that of the response without it. */
export function codedTag(tag: string, coding: ContentCoding | undefined): string {
  return coding === undefined ? tag : `${tag.slice(0, -1)}.${coding}"`;
}

/** Returns the headers that depend on the content coding, from the tag of the response without it, if it has one. */
export function codingHeaders(coding: ContentCoding | undefined, tag?: string): HeaderList {
  const headers = tag === undefined ? [] : ['ETag', codedTag(tag, coding)];
  return coding === undefined ? headers : [...headers, 'Content-Encoding', coding];
}

/** Number of entity tags in `If-None-Match` that are compared. */
const MAX_TAGS = 100;

/**
 * Returns the first entity tag in `If-None-Match` that is a tag, or that tag with a content coding, as the client sent it.
 * The comparison is weak (RFC 9110, section 13.1.2), and ignores the suffix of a proxy that compresses, such as Apache:
 * `"TAG-gzip"`. `*` matches no tag here.
 */
export function matchedTag(
  ifNoneMatch: string | undefined,
  tag: string,
  codings: readonly ContentCoding[] = CONTENT_CODINGS,
): string | undefined {
  if (ifNoneMatch === undefined) return undefined;
  const tags = [tag, ...codings.map((coding) => codedTag(tag, coding))];
  return ifNoneMatch
    .split(',', MAX_TAGS)
    .map((listed) => listed.trim().replace(/^W\//, ''))
    .find((listed) => tags.includes(listed.replace(/-(?:gzip|br)"$/, '"')));
}

/** Returns whether `If-None-Match` is `*`, which matches any existing representation. */
export function matchesAnyTag(ifNoneMatch: string | undefined): boolean {
  return ifNoneMatch?.trim() === '*';
}
