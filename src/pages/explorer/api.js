import { headerOf, send } from '../shared/exchange.js';
import { authorization } from '../shared/session.js';
import { queryOfLink } from './address.js';

/** @import { Exchange, Header, PageRequest } from '../shared/exchange.js' */
/** @import { Page } from './types.d.ts' */

/**
 * The requests of a session. A place reads its answers when it is entered, and the views show the state of the readings.
 *
 * @typedef {{ take(items: readonly never[]): void }} Tally receives the records of each page
 * @typedef {Exchange & { number: number }} Sent an exchange, and its number in the session
 */

/** Also bounds the memory that answers and tallies take. */
const KEPT_READINGS = 40;
const KEPT_EXCHANGES = 25;
/** Longer lists are read to their end only when asked to. */
const PAGES_UNASKED = 20;
/** Wait after a 429 without `Retry-After`, such as one of a proxy, in seconds. */
const DEFAULT_WAIT = 5;

export class Api {
  #key;
  #sent = 0;
  /** @type {Map<string, Reading>} */
  #readings = new Map();
  #leaving = new AbortController();
  /**
   * Latest first. A request that is sent aside comes after that of the view.
   * @type {readonly Sent[]}
   */
  history = [];

  /**
   * @param {string} key
   * @param {() => void} changed called after each change of a reading or of the history
   */
  constructor(key, changed) {
    this.#key = key;
    this.changed = changed;
  }

  /** Aborts when the place is left. */
  get leaving() {
    return this.#leaving.signal;
  }

  /** Ends the requests of the place that is left. Its answers stay. */
  leave() {
    this.#leaving.abort();
    this.#leaving = new AbortController();
  }

  /**
   * Sends a request of the place that is entered. An answer that is known is confirmed.
   * @param {PageRequest} request
   * @param {() => Tally} [newTally] makes the tally of a walk: all pages of a list are read
   */
  read(request, newTally) {
    const id = JSON.stringify([request, newTally !== undefined]);
    const reading = this.#readings.get(id) ?? new Reading(this, request);
    reading.newTally = newTally;
    // The latest is last in order.
    this.#readings.delete(id);
    this.#readings.set(id, reading);
    for (const old of [...this.#readings.keys()].slice(0, -KEPT_READINGS)) this.#readings.delete(old);
    void reading.refresh();
    return reading;
  }

  /**
   * Sends a request of the history again, for the reading that sent it if it is kept.
   * @param {PageRequest} request
   */
  sendAgain({ target, headers }) {
    const request = { target, headers: withoutTag(headers) };
    const text = JSON.stringify(request);
    const known = [...this.#readings.values()].find((reading) => JSON.stringify(reading.request) === text);
    void (known ?? new Reading(this, request)).refresh();
  }

  /**
   * Sends a request, and again after each 429 when its `Retry-After` has passed.
   * @param {PageRequest} request
   * @param {AbortSignal} signal
   * @param {(refused: Exchange, retryAt: number) => void} waiting called with a 429 and the time at which its wait ends
   * @throws {DOMException} if aborted
   */
  async send(request, signal, waiting) {
    for (;;) {
      const { target, headers, isAside = false } = request;
      const exchange = await send({ target, headers: [authorization(this.#key), ...headers] }, signal);
      const sent = { ...exchange, request, number: ++this.#sent };
      const above = this.history.slice(0, isAside ? 1 : 0);
      this.history = [...above, sent, ...this.history.slice(above.length)].slice(0, KEPT_EXCHANGES);
      if (sent.status !== 429) return sent;
      const seconds = Number(headerOf(sent, 'retry-after') ?? DEFAULT_WAIT);
      waiting(sent, Date.now() + seconds * 1000);
      this.changed();
      await delay(seconds * 1000, signal);
    }
  }
}

/** @param {readonly Header[]} headers */
export function withoutTag(headers) {
  return headers.filter(([name]) => name !== 'If-None-Match');
}

/** One answer or, with a tally, all pages of a list, by their `nextPage`. */
export class Reading {
  #api;
  /** @type {PageRequest | undefined} */
  #next;
  #stopping = new AbortController();
  #completion = Promise.withResolvers();
  /** @type {'loading' | 'waiting' | 'paused' | 'ready' | 'failed'} */
  state = 'loading';
  /**
   * The latest exchange.
   * @type {Exchange | undefined}
   */
  exchange;
  /**
   * The latest exchange with a body of records, of the first page. It is confirmed by its entity tag, which carries the
   * content of the list, and with it that of all pages.
   * @type {Exchange | undefined}
   */
  answer;
  /** @type {((answer: Exchange) => void) | undefined} */
  #answered;
  /** @type {(() => Tally) | undefined} */
  newTally;
  /** @type {Tally | undefined} */
  tally;
  isComplete = false;
  pagesRead = 0;
  totalPages = 0;
  /** Time at which a wait ends. */
  retryAt = 0;

  /**
   * @param {Api} api
   * @param {PageRequest} request of the first page
   */
  constructor(api, request) {
    this.#api = api;
    this.request = request;
  }

  /** Fulfilled when all pages are read. */
  get completion() {
    return this.#completion.promise;
  }

  /** Sends the first request again. */
  refresh() {
    const { headers } = this.request;
    const tag = this.answer === undefined || !this.isComplete ? undefined : headerOf(this.answer, 'etag');
    return this.#run(
      tag === undefined ? this.request : { ...this.request, headers: [...headers, ['If-None-Match', tag]] },
      PAGES_UNASKED,
    );
  }

  /**
   * Calls a function with the known answer, and with each that replaces it.
   * @param {(answer: Exchange) => void} act
   */
  whenAnswered(act) {
    this.#answered = act;
    if (this.answer !== undefined) act(this.answer);
  }

  /** Reads the pages that are left, or begins again after a failure. */
  resume() {
    return this.#next === undefined ? this.refresh() : this.#run(this.#next, Infinity);
  }

  stop() {
    this.#stopping.abort();
  }

  /**
   * @param {PageRequest} from
   * @param {number} maxPages the walk pauses before it reads a longer list
   */
  async #run(from, maxPages) {
    this.stop();
    const stopping = new AbortController();
    this.#stopping = stopping;
    const signal = AbortSignal.any([this.#api.leaving, stopping.signal]);
    /** @type {PageRequest | undefined} */
    let next = from;
    try {
      while (next !== undefined) {
        this.#next = next;
        this.state = 'loading';
        this.#api.changed();
        this.exchange = await this.#api.send(next, signal, (refused, retryAt) => {
          this.state = 'waiting';
          this.exchange = refused;
          this.retryAt = retryAt;
        });
        next = this.#take(this.exchange, next.target === this.request.target);
        this.#next = next;
        if (next === undefined || this.totalPages <= maxPages) continue;
        this.state = 'paused';
        break;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      if (this.#stopping === stopping) this.state = 'paused';
    }
    this.#api.changed();
  }

  /**
   * Takes over a response. Returns the request of the next page, if there is one.
   * @param {Exchange} exchange
   * @param {boolean} isFirst whether it is that of the first page
   */
  #take(exchange, isFirst) {
    const { status, body } = exchange;
    if (body instanceof ReadableStream) void body.cancel();
    // A proxy may answer in place of the API, such as with the page of its own sign-in.
    const isRefused = status === 0 || status >= 400 || (status === 200 && body === undefined);
    this.state = isRefused ? 'failed' : 'ready';
    if (isRefused || status === 304) return undefined;
    if (isFirst) {
      this.answer = exchange;
      this.tally = this.newTally?.();
      this.pagesRead = 0;
    }
    const next = this.tally && this.#add(this.tally, /** @type {Page} */ (body));
    this.isComplete = next === undefined;
    if (this.isComplete) this.#completion.resolve(undefined);
    if (isFirst) this.#answered?.(exchange);
    return next;
  }

  /**
   * @param {Tally} tally
   * @param {Page} page
   */
  #add(tally, { items, totalPages, nextPage }) {
    tally.take(items);
    this.pagesRead++;
    this.totalPages = totalPages;
    if (nextPage === null) return undefined;
    const { target, headers } = this.request;
    return { target: `${target.split('?')[0]}?${queryOfLink(nextPage)}`, headers };
  }
}

/**
 * @param {number} milliseconds
 * @param {AbortSignal} signal
 */
function delay(milliseconds, signal) {
  /** @type {Promise<void>} */
  const passed = new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new DOMException('The place was left.', 'AbortError'));
    });
  });
  return passed;
}
