import { NDJSON_TYPE } from '../../contract/headers.ts';
import type { RequestRefusal } from '../../counts/request-metrics.ts';

/** Response headers: names and values in turn, as `writeHead` accepts them. */
export type HeaderList = readonly string[];

export interface Violation {
  /** Location, such as `query.startAt.gte`. */
  readonly loc: string;
  readonly input: string;
  /** The constraint, with an example of a valid form, if useful. */
  readonly ctx: string;
}

interface ProblemOptions {
  readonly errors?: readonly Violation[];
  /** Locations for the log. */
  readonly loc?: readonly string[];
  readonly headers?: HeaderList;
  readonly reason?: RequestRefusal;
}

/** An error that becomes the response: its status, additional headers and JSON body. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly body: Buffer;
  readonly headers: HeaderList;
  /** The cause, and the locations of the violations without their input, for the log. */
  readonly reason: RequestRefusal | undefined;
  readonly loc: readonly string[] | undefined;

  constructor(status: number, detail: string, { errors, loc, headers = [], reason }: ProblemOptions = {}) {
    super(detail);
    this.status = status;
    this.body = Buffer.from(JSON.stringify({ detail, ...(errors && { errors }) }));
    this.headers = headers;
    this.reason = reason;
    this.loc = loc;
  }
}

/** Pause of clients whose request may succeed at any time. */
const RETRY_SECONDS = 5;

/** Returns a 429 problem with a `Retry-After` header of at least one second. */
export function retryLater(reason: RequestRefusal, detail: string, seconds = RETRY_SECONDS): Problem {
  const headers = ['Retry-After', String(Math.max(1, Math.ceil(seconds)))];
  return new Problem(429, detail, { headers, reason });
}

/**
 * Returns the problem of an unknown path.
 * @param descriptions addresses at which the API is described, if any
 */
export function noSuchPath(descriptions: readonly string[]): Problem {
  const hint = descriptions.length === 0 ? '' : `; the API is described at ${descriptions.join(' and ')}`;
  return new Problem(404, `There is no resource at this path${hint}.`);
}

export function notReady(reason: RequestRefusal, cause: string): Problem {
  return retryLater(reason, `The service is not ready: ${cause}. Try again later.`);
}

/** Returns a handler of requests that throws a problem. */
export function throwing(problem: Problem) {
  return (): never => {
    throw problem;
  };
}

/** Has the same bytes for a missing record and for one of another organization. */
export const NO_SUCH_RECORD = new Problem(404, 'There is no such record.');
export const ALLOW: HeaderList = ['Allow', 'GET, HEAD, OPTIONS'];
export const METHOD_NOT_ALLOWED = new Problem(405, 'The method must be GET, HEAD or OPTIONS.', {
  headers: ALLOW,
});
/** HTTP/1.0 marks the end of a stream by closing the connection, so a truncated one would look complete. */
export const HTTP_1_1_NEEDED = new Problem(
  400,
  `A response in ${NDJSON_TYPE} requires HTTP/1.1; the client or a proxy sent HTTP/1.0.`,
);
export const UNEXPECTED = new Problem(500, 'An unexpected error occurred in the service.');
const INVALID_PATH = new Problem(
  400,
  'The path contains invalid percent-encoding; it must be percent-encoded UTF-8.',
);

export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  // The router throws this error when it cannot decode the parameter of a path.
  if (error instanceof URIError && 'status' in error && error.status === INVALID_PATH.status)
    return INVALID_PATH;
  return undefined;
}
