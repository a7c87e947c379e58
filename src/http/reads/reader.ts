import type { Request } from 'express';
import type { OrganizationStore } from '../../store/organization-store.ts';
import type { Query, QueryReader } from '../checks/query.ts';
import type { Body } from '../response/send.ts';

/** A request of data that has passed the checks of its key and version. */
export interface ReadRequest {
  readonly request: Request;
  readonly query: Query;
  readonly store: OrganizationStore;
  /** Scheme and host of links. */
  readonly origin: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The data of a response, and the number of its records. */
export type Found =
  | { readonly is: 'body'; readonly rows: number; readonly body: Body; readonly nextPage: string | undefined }
  | ({ readonly is: 'lines' } & FoundLines)
  | { readonly is: 'beyond the last page' };

/** `read` returns chunks of lines. A chunk may reuse the buffer of the previous one if `isSent` returns true. */
export interface FoundLines {
  readonly rows: number;
  readonly read: (isSent: () => boolean) => Iterable<Buffer>;
}

/** Reads the data of an operation in one form: a page of a list, all of its records as lines, or one record. */
export interface Reader {
  /** Whether responses contain links, on which their tags then depend. */
  readonly hasLinks: boolean;
  /** Returns a tag that identifies the data in this form. */
  readonly contentTag: (store: OrganizationStore, now: number) => string;
  /** Validates the query of a list. */
  readonly readQuery: QueryReader;
  /**
   * Returns undefined when the record, or the parent of the list, does not exist.
   * @throws Problem 400 with all violations of the query
   */
  readonly read: (request: ReadRequest) => Found | undefined;
}
