import type { RetrieveOperation } from '../../contract/operations.ts';
import { contentTag, readRecord } from '../../query/read-page.ts';
import { pathParameter } from '../request-context.ts';
import type { Reader } from './reader.ts';

/** Creates the reader of single records. */
export function recordReader({ collection, pathParameter: parameter }: RetrieveOperation): Reader {
  return {
    hasLinks: false,
    contentTag: (store, now) => contentTag(store, collection, now),
    readQuery: () => ({}),
    read: ({ request, store, now }) => {
      const body = readRecord(store, collection, pathParameter(request, parameter), now);
      return body && { is: 'body', rows: 1, body, nextPage: undefined };
    },
  };
}
