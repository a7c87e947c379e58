/** The errors of the client. Invalid arguments are a TypeError or RangeError, and an abort is the signal's reason. */

/** The base of all errors that requests raise. */
export class FoyerError extends Error {
  override readonly name: string = 'FoyerError';
}

/** A violation of the query's rules, as in the service's response. */
export interface Violation {
  /** Location, such as `query.page`. */
  readonly loc: string;
  readonly input: string;
  /** The violated rule. */
  readonly ctx: string;
}

export interface Refusal {
  readonly status: number;
  /** The service's explanation; the status text when the response is not from the service. */
  readonly detail: string;
  readonly errors: readonly Violation[];
  /** Names the request in the log of the service. */
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
}

/** A response other than the expected ones, after the last attempt. */
export class ResponseError extends FoyerError implements Refusal {
  override readonly name: string = 'ResponseError';
  readonly status: number;
  readonly detail: string;
  readonly errors: readonly Violation[];
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  /** @param request method and path, such as `GET /v1/tickets` */
  constructor(request: string, { status, detail, errors, requestId, retryAfterSeconds }: Refusal) {
    const violations = errors.map(({ loc, ctx }) => ` ${loc}: ${ctx}.`);
    super(`${request}: ${status}: ${detail}${violations.join('')}`);
    this.status = status;
    this.detail = detail;
    this.errors = errors;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * The data on which a walk over pages began is no longer available. Discard its pages, and begin again. Pages of newer
 * data would repeat some records and lack others.
 */
export class WalkGoneError extends ResponseError {
  override readonly name: string = 'WalkGoneError';
}

/** No complete response arrived: the connection failed, broke off, or made no progress for `timeoutSeconds`. */
export class ConnectionError extends FoyerError {
  override readonly name: string = 'ConnectionError';
}

/** An earlier release of the service ignored a filter. Later ones refuse it with 400, a ResponseError. */
export class IgnoredFilterError extends FoyerError {
  override readonly name: string = 'IgnoredFilterError';
  /** The names of the parameters, comma-separated and percent-encoded. */
  readonly parameters: string;

  constructor(request: string, parameters: string) {
    super(`${request}: the service ignored the query parameters ${parameters}`);
    this.parameters = parameters;
  }
}
