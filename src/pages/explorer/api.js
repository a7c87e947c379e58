import { exchange, headerOf } from './exchange.js';

/** @import { ApiRequest, Exchange } from './exchange.js' */

/**
 * The requests of a session. Views read answers by `read`, which sends a request once for each visit of a place.
 *
 * @typedef {object} Reading state of a request that a view has asked for
 * @property {'loading' | 'waiting' | 'ready' | 'refused' | 'unreachable'} state
 * @property {ApiRequest} request
 * @property {Exchange | undefined} exchange the latest
 * @property {Exchange | undefined} answer the latest with a body of records; confirmed by 304
 * @property {number} retryAt time at which a wait ends, while `waiting`
 * @property {boolean} isCurrent whether it was asked for since the last change of place
 */

/** Also bounds the memory that bodies take. */
const KEPT_READINGS = 40;
const KEPT_EXCHANGES = 25;
/** Wait after a 429 without `Retry-After`, such as one of a proxy, in seconds. */
const DEFAULT_WAIT = 5;

export class Api {
  #key;
  #count = 0;
  /** @type {Map<string, Reading>} */
  #readings = new Map();
  #leaving = new AbortController();
  /**
   * Latest first.
   * @type {readonly Exchange[]}
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

  /** Ends the requests of the place that is left. Answers stay, and are confirmed when a view asks again. */
  leave() {
    this.#leaving.abort();
    this.#leaving = new AbortController();
    for (const [id, reading] of this.#readings) {
      reading.isCurrent = false;
      if (reading.answer === undefined) this.#readings.delete(id);
    }
    for (const id of [...this.#readings.keys()].slice(0, -KEPT_READINGS)) this.#readings.delete(id);
  }

  /**
   * Returns the state of a request, and sends it if this place has not asked for it yet.
   * @param {ApiRequest} request
   * @returns {Readonly<Reading>}
   */
  read(request) {
    const known = this.#readings.get(idOf(request));
    if (known?.isCurrent === true) return known;
    return this.refresh(request);
  }

  /**
   * Sends a request of a view again. An earlier answer is confirmed by its entity tag.
   * @param {ApiRequest} request
   * @returns {Readonly<Reading>}
   */
  refresh(request) {
    const id = idOf(request);
    const answer = this.#readings.get(id)?.answer;
    /** @type {Reading} */
    const reading = { state: 'loading', request, exchange: undefined, answer, retryAt: 0, isCurrent: true };
    // Set anew, so that the latest is last in order.
    this.#readings.delete(id);
    this.#readings.set(id, reading);
    void this.#load(reading);
    return reading;
  }

  /** @param {Reading} reading */
  async #load(reading) {
    const signal = this.leaving;
    const tag = reading.answer === undefined ? undefined : headerOf(reading.answer, 'etag');
    const request = tag === undefined ? reading.request : conditional(reading.request, tag);
    try {
      const outcome = await this.send(request, signal, (retryAt) => {
        reading.state = 'waiting';
        reading.retryAt = retryAt;
      });
      reading.exchange = outcome;
      reading.state = stateOf(outcome);
      if (reading.state === 'ready' && outcome.status !== 304) reading.answer = outcome;
      this.changed();
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /**
   * Sends a request, and again after each 429 when its `Retry-After` has passed.
   * @param {ApiRequest} request
   * @param {AbortSignal} signal
   * @param {(retryAt: number) => void} [waiting] called with the time at which a wait ends
   * @throws {DOMException} if aborted
   */
  async send(request, signal, waiting) {
    for (;;) {
      const outcome = await exchange(request, this.#key, ++this.#count, signal);
      this.history = [outcome, ...this.history].slice(0, KEPT_EXCHANGES);
      if (outcome.status !== 429) {
        this.changed();
        return outcome;
      }
      const seconds = Number(headerOf(outcome, 'retry-after') ?? DEFAULT_WAIT);
      waiting?.(Date.now() + seconds * 1000);
      this.changed();
      await delay(seconds * 1000, signal);
    }
  }
}

/**
 * Returns a request that the API answers with 304 while its answer has the same entity tag.
 * @param {ApiRequest} request
 * @param {string} tag
 * @returns {ApiRequest}
 */
export function conditional({ target, headers }, tag) {
  return { target, headers: [...headers, ['If-None-Match', tag]] };
}

/** @param {ApiRequest} request */
function idOf({ target, headers }) {
  return JSON.stringify([target, headers]);
}

/**
 * @param {Exchange} outcome
 * @returns {Reading['state']}
 */
function stateOf({ status, body }) {
  if (status === undefined) return 'unreachable';
  // A proxy may answer in place of the API, such as with the page of its own sign-in.
  return status >= 400 || (status === 200 && body === undefined) ? 'refused' : 'ready';
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
