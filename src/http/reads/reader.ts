import type { Request } from 'express';
import type { ValidKey } from '../../keys/key-ring.ts';
import type { SectionImage } from '../../store/organization-image.ts';
import type { OrganizationStore } from '../../store/registry/store-view.ts';
import type { Query } from '../checks/query.ts';
import type { RequestContext } from '../request-context.ts';
import type { HeaderList } from '../response/problem.ts';
import type { Body } from '../response/send.ts';

/** A request of data that has passed the checks of its key and version. */
export interface ReadRequest {
  readonly request: Request;
  readonly context: RequestContext;
  readonly caller: ValidKey;
  readonly store: OrganizationStore;
  readonly query: Query;
}

/**
 * Reads the data of a response.
 * @throws Problem 400 with all violations of the query, 404 or 429
 */
export type Reader = (read: ReadRequest) => Found;

/** The data of a response, with the headers that describe it, and its entity tag without content coding, if it has one. */
export interface Found {
  readonly headers: HeaderList;
  readonly tag?: string;
  readonly content: Content | { readonly is: 'known'; readonly tag: string };
}

/** The content of a response, and the number of its records. */
export type Content =
  | {
      readonly is: 'body';
      readonly rows: number;
      /** The pieces of a generator are made when they are taken, some at a time. */
      readonly body: Body | Generator<Body, void>;
      readonly nextPage?: string | undefined;
    }
  | FoundLines
  | { readonly is: 'beyond the last page' };

/** `read` returns chunks of lines. A chunk may reuse the buffer of the previous one if `isSent` returns true. */
export interface FoundLines {
  readonly is: 'lines';
  readonly rows: number;
  readonly headers: HeaderList;
  readonly images: readonly SectionImage[];
  readonly read: (isSent: () => boolean) => Iterable<Buffer>;
}
