/** Headers of a response: names and values in turn, as `writeHead` takes them. */
export type HeaderList = readonly string[];

/** One constraint that a request violates. */
export interface Violation {
  /** Where, such as `query.startAt.gte`. */
  readonly loc: string;
  readonly input: string;
  /** What was violated, and what would be right. */
  readonly ctx: string;
}

/** Why a caller is asked to come again later. */
export const RETRY_REASONS = ['rate-limit', 'overload', 'not-ready'] as const;
export type RetryReason = (typeof RETRY_REASONS)[number];

interface ProblemOptions {
  readonly errors?: readonly Violation[];
  readonly headers?: HeaderList;
  readonly later?: RetryReason;
}

/** A request that is refused: the status, headers of its own and the JSON body of the answer. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly body: Buffer;
  readonly headers: HeaderList;
  readonly later: RetryReason | undefined;

  constructor(status: number, detail: string, { errors, headers = [], later }: ProblemOptions = {}) {
    super(detail);
    this.status = status;
    this.body = Buffer.from(JSON.stringify({ detail, ...(errors && { errors }) }));
    this.headers = headers;
    this.later = later;
  }
}

/** A 429 that says when to come again. */
export function retryLater(later: RetryReason, detail: string, seconds: number): Problem {
  const headers = ['Retry-After', String(Math.max(1, Math.ceil(seconds)))];
  return new Problem(429, detail, { headers, later });
}

/** A record that is missing and one of another organization are answered with the same bytes. */
export const NO_SUCH_RECORD = new Problem(404, 'There is no such record.');
export const NO_SUCH_PATH = new Problem(404, 'There is nothing at this path.');
const BROKEN_PATH = new Problem(400, 'The path has percent-encoding that is broken or not UTF-8.');
export const UNEXPECTED = new Problem(500, 'Something went wrong on our side.');

/** What an error of any layer means to the caller; undefined when it is none of theirs. */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  // The router decodes the parameter of a path, and throws this when it cannot be decoded.
  if (error instanceof URIError && 'status' in error && error.status === BROKEN_PATH.status)
    return BROKEN_PATH;
  return undefined;
}
