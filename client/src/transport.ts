import { Answer } from './answer.ts';
import type { OperationId } from './contract.ts';
import { ConnectionError, IgnoredFilterError, ResponseError } from './errors.ts';
import { OPERATIONS } from './generated/operations.ts';
import { Progress } from './progress.ts';
import { refusal } from './refusal.ts';

/** The transport sends requests, repeats them as far as that helps, and turns refusals into errors. */

export interface ClientOptions {
  /** URL of the service, such as `https://tickets.example.org`. Requests go to no other address. */
  readonly baseUrl: string | URL;
  /** API key, in the form `svc:o:ORGANIZATION:SECRET`. */
  readonly credential: string;
  /** `stable`, `preview` or a release date. Operations that are in preview are always requested with `preview`. */
  readonly version?: string | undefined;
  /** Whether query parameters that the service would ignore, such as misspelt filters, are errors. Default: true. */
  readonly strict?: boolean | undefined;
  /** Ends all requests and pauses of the client. */
  readonly signal?: AbortSignal | undefined;
  /** Maximum number of attempts at a request. Default: 8. */
  readonly maxAttempts?: number | undefined;
  /** Maximum sum of the pauses of a request. A longer `Retry-After` is an error at once. Default: 180. */
  readonly maxWaitSeconds?: number | undefined;
  /** Time limit of a response, and of each chunk of a stream. Default: 60. */
  readonly timeoutSeconds?: number | undefined;
  /** Maximum size of a body, and of a line of a stream, decompressed. Default: 2^27, above that of any page. */
  readonly maxBytes?: number | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** Replaces the pauses between attempts, in tests. */
  readonly wait?: Wait | undefined;
}

export type Wait = (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;

export interface Call {
  readonly operation: OperationId;
  /** Value of the path parameter. */
  readonly id?: string | undefined;
  /** Query string, encoded. */
  readonly query?: string;
  readonly accept: 'application/json' | 'application/x-ndjson';
  /** Entity tag of the response that the caller has. */
  readonly tag?: string | undefined;
  /** Whether 404 of the service is a response like any other. */
  readonly mayBeMissing?: boolean;
  readonly signal?: AbortSignal | undefined;
}

const VERSION_HEADER = 'Service-API-Version';
const PREVIEW = 'preview';
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
/** A service's own are shorter; a proxy may answer with a page. */
const MAX_REFUSAL_BYTES = 2 ** 20;
/** Timers of a longer time would end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class Transport {
  readonly #baseUrl: string;
  readonly #credential: string;
  readonly #version: string;
  readonly #isStrict: boolean;
  readonly #signal: AbortSignal | undefined;
  readonly #maxAttempts: number;
  readonly #maxWaitMs: number;
  readonly #timeoutMs: number;
  readonly #maxBytes: number;
  readonly #fetch: typeof fetch;
  readonly #wait: Wait;

  constructor(options: ClientOptions) {
    this.#baseUrl = checkedBaseUrl(options.baseUrl);
    this.#credential = checkedCredential(options.credential);
    this.#version = options.version ?? 'stable';
    this.#isStrict = options.strict ?? true;
    this.#signal = options.signal;
    this.#maxAttempts = options.maxAttempts ?? 8;
    if (!(this.#maxAttempts >= 1)) throw new RangeError('maxAttempts: must be at least 1');
    this.#maxWaitMs = timeOf('maxWaitSeconds', options.maxWaitSeconds ?? 180);
    this.#timeoutMs = timeOf('timeoutSeconds', options.timeoutSeconds ?? 60);
    this.#maxBytes = options.maxBytes ?? 2 ** 25;
    if (!(this.#maxBytes >= 1)) throw new RangeError('maxBytes: must be at least 1');
    this.#fetch = options.fetch ?? fetch;
    this.#wait = options.wait ?? wait;
  }

  /**
   * Sends a request, and reads its response: 200, 204 or 304. Repeats it after 429, 5xx and failures of the connection.
   * @param read reads the body; a failure on the way is repeated as well
   */
  async send<T>(call: Call, read: (answer: Answer) => T | Promise<T>): Promise<T> {
    const signal = either(call.signal, this.#signal);
    for (let attempt = 1, waitedMs = 0; ; attempt++) {
      signal?.throwIfAborted();
      try {
        return await read(await this.#attempt(call, signal));
      } catch (error) {
        const pauseMs = pauseAfter(error, attempt);
        const isLast = attempt >= this.#maxAttempts || waitedMs + (pauseMs ?? 0) > this.#maxWaitMs;
        if (pauseMs === undefined || isLast) throw error;
        waitedMs += pauseMs;
        await this.#wait(pauseMs, signal);
      }
    }
  }

  /** Pauses between requests. */
  async pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
    await this.#wait(milliseconds, either(signal, this.#signal));
  }

  async #attempt(call: Call, signal: AbortSignal | undefined): Promise<Answer> {
    const { isPreview } = OPERATIONS[call.operation];
    const path = pathOf(call);
    const request = `GET ${path}`;
    const progress = new Progress(request, this.#timeoutMs, signal);
    // An invalid value is an error here. In fetch, it would count as a failure of the connection.
    const headers = new Headers({
      Authorization: `Bearer ${this.#credential}`,
      Accept: call.accept,
      [VERSION_HEADER]: isPreview ? PREVIEW : this.#version,
      // https://www.rfc-editor.org/rfc/rfc7240#section-4.4
      ...(this.#isStrict && { Prefer: 'handling=strict' }),
      ...(call.tag !== undefined && { 'If-None-Match': call.tag }),
    });
    const url = this.#baseUrl + path + (call.query ? `?${call.query}` : '');
    // As a method of the transport, fetch of browsers would refuse the call.
    const fetch = this.#fetch;
    // A redirect would lead the credential to another path, or the request to another origin without it.
    const init = { headers, signal: progress.signal, redirect: 'manual' } as const;
    const response = await progress.within(fetch(url, init));
    const { status } = response;
    const maxBytes = status === 200 ? this.#maxBytes : Math.min(this.#maxBytes, MAX_REFUSAL_BYTES);
    const answer = new Answer(response, request, progress, maxBytes);
    const isMissing = status === 404 && call.mayBeMissing === true && response.headers.has(VERSION_HEADER);
    if (status !== 200 && status !== 204 && status !== 304 && !isMissing)
      throw refusal(request, response, (await answer.text()).replaceAll(this.#credential, '…'));
    const ignored = response.headers.get('Service-API-Ignored-Parameters');
    // Of a service that does not know the preference.
    if (this.#isStrict && ignored !== null) {
      await response.body?.cancel();
      throw new IgnoredFilterError(request, ignored);
    }
    return answer;
  }
}

/** Returns the milliseconds of an option, as many as a timer can have. */
export function timeOf(option: string, seconds: number): number {
  if (!(seconds >= 0)) throw new RangeError(`${option}: must not be negative`);
  return Math.min(seconds * 1000, MAX_TIMER_MS);
}

function checkedBaseUrl(baseUrl: string | URL): string {
  const { protocol, origin, pathname, username, password, search, hash } = new URL(baseUrl);
  const isPlain = username + password + search + hash === '';
  if ((protocol !== 'https:' && protocol !== 'http:') || !isPlain)
    throw new TypeError('baseUrl: must be an http or https URL without user, query and fragment');
  return origin + pathname.replace(/\/+$/, '');
}

function checkedCredential(credential: unknown): string {
  // fetch would name an invalid value in its error.
  if (typeof credential !== 'string' || !/^svc:o:[\x21-\x39\x3b-\x7e]+:[\x21-\x7e]+$/.test(credential))
    throw new TypeError('credential: must have the form svc:o:ORGANIZATION:SECRET, without white space');
  return credential;
}

/** Returns the encoded path of a request. */
function pathOf({ operation, id }: Call): string {
  const { path } = OPERATIONS[operation];
  if (!path.includes('{')) return path;
  if (typeof id !== 'string') throw new TypeError('the id must be a string');
  // URLs resolve these segments, however they are encoded: the request would be another one.
  if (id === '' || id === '.' || id === '..') throw new RangeError(`no URL can name the id "${id}"`);
  return path.replace(/\{\w+\}/, () => encodeURIComponent(id));
}

/** Returns the pause before the next attempt; undefined when a repetition would not help. */
function pauseAfter(error: unknown, attempt: number): number | undefined {
  const isRefusal = error instanceof ResponseError && (error.status === 429 || error.status >= 500);
  if (!isRefusal && !(error instanceof ConnectionError)) return undefined;
  const backoff = Math.min(FIRST_BACKOFF_MS * 2 ** (attempt - 1), MAX_BACKOFF_MS);
  const leastMs = isRefusal ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
  // Clients that failed together return at different times.
  return Math.max(leastMs, backoff * (0.5 + Math.random() / 2));
}

/** Returns a signal that aborts with the first of two. */
function either(first: AbortSignal | undefined, second: AbortSignal | undefined): AbortSignal | undefined {
  return first !== undefined && second !== undefined ? AbortSignal.any([first, second]) : (first ?? second);
}

/** Waits for a time. Rejects with the reason of the signal when it aborts. */
function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted === true) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener('abort', end);
  });
}
