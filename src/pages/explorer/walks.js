import { conditional } from './api.js';
import { headerOf } from './exchange.js';
import { queryOfLink } from './query.js';

/** @import { Api } from './api.js' */
/** @import { ApiRequest, Exchange } from './exchange.js' */
/** @import { Page } from './list-view.js' */

/**
 * Walks over all pages of lists, by their `nextPage`.
 *
 * @typedef {{ take(items: readonly never[]): void }} Tally receives the records of each page
 *
 * @typedef {'reading' | 'waiting' | 'paused' | 'ready' | 'failed'} WalkState
 */

/** Longer walks begin only when asked to. */
const PAGES_UNASKED = 20;

/**
 * A walk and the tally of its records. A tally is kept while the entity tag of the first page stays: it carries the
 * content of the organization, and with it that of all pages.
 *
 * @template {Tally} T
 */
export class Walk {
  #api;
  #first;
  #newTally;
  /** @type {ApiRequest | undefined} */
  #next;
  /** @type {string | undefined} */
  #tag;
  /** @type {AbortSignal | undefined} */
  #visit;
  #pausing = new AbortController();
  /** @type {WalkState} */
  state = 'reading';
  tally;
  pagesRead = 0;
  totalPages = 0;
  /** Time at which a wait ends. */
  retryAt = 0;
  /**
   * The refusal on which the walk failed.
   * @type {Exchange | undefined}
   */
  refusal;

  /**
   * @param {Api} api
   * @param {ApiRequest} first
   * @param {() => T} newTally
   */
  constructor(api, first, newTally) {
    this.#api = api;
    this.#first = first;
    this.#newTally = newTally;
    this.tally = newTally();
  }

  /** Begins the walk for a visit of a place, or confirms an earlier one. */
  visit() {
    if (this.#visit === this.#api.leaving) return;
    this.#visit = this.#api.leaving;
    if (this.state !== 'ready') this.#begin();
    const isKnown = this.state === 'ready' && this.#tag !== undefined;
    void this.#run(isKnown ? conditional(this.#first, this.#tag ?? '') : this.#first, PAGES_UNASKED);
  }

  /** Reads the pages that are left, or begins again after a failure. */
  resume() {
    if (this.#next === undefined) this.#begin();
    void this.#run(this.#next ?? this.#first, Infinity);
    this.#api.changed();
  }

  pause() {
    this.#pausing.abort();
  }

  #begin() {
    this.tally = this.#newTally();
    this.pagesRead = 0;
    this.#next = undefined;
    this.state = 'reading';
  }

  /**
   * @param {ApiRequest} from
   * @param {number} maxPages the walk pauses before a longer list is read
   */
  async #run(from, maxPages) {
    this.#pausing = new AbortController();
    const signal = AbortSignal.any([this.#api.leaving, this.#pausing.signal]);
    try {
      /** @type {ApiRequest | undefined} */
      let request = from;
      while (request !== undefined) {
        request = await this.#readPage(request, signal);
        this.#api.changed();
        if (request !== undefined && this.totalPages > maxPages) this.#pausing.abort();
        signal.throwIfAborted();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      this.state = 'paused';
      this.#api.changed();
    }
  }

  /**
   * Reads a page. Returns the request of the next one.
   * @param {ApiRequest} request
   * @param {AbortSignal} signal
   * @returns {Promise<ApiRequest | undefined>}
   */
  async #readPage(request, signal) {
    if (this.state !== 'ready') this.state = 'reading';
    const outcome = await this.#api.send(request, signal, (retryAt) => {
      this.state = 'waiting';
      this.retryAt = retryAt;
    });
    if (outcome.status === 304) return undefined;
    if (outcome.status !== 200 || outcome.body === undefined) {
      this.state = 'failed';
      this.refusal = outcome;
      this.#next = undefined;
      return undefined;
    }
    if (this.state === 'ready') this.#begin();
    const { items, page, totalPages, nextPage } = /** @type {Page<never>} */ (outcome.body);
    if (page === 1) this.#tag = headerOf(outcome, 'etag');
    this.tally.take(items);
    this.pagesRead++;
    this.totalPages = totalPages;
    this.#next = nextPage === null ? undefined : this.#requestOf(nextPage);
    this.state = this.#next === undefined ? 'ready' : 'reading';
    return this.#next;
  }

  /**
   * Returns the request of a `nextPage` link, to the same path as the first.
   * @param {string} nextPage
   * @returns {ApiRequest}
   */
  #requestOf(nextPage) {
    const { target, headers } = this.#first;
    return { target: `${target.split('?')[0]}?${queryOfLink(nextPage)}`, headers };
  }
}

/** A tally that keeps the records themselves. */
export class Collected {
  /** @type {unknown[]} */
  items = [];

  /** @param {readonly unknown[]} items */
  take(items) {
    this.items.push(...items);
  }
}

/** Also bounds the memory that tallies take. */
const KEPT_WALKS = 20;

/**
 * The walks of a session, by their first request.
 *
 * @template {Tally} T
 */
export class Walks {
  #api;
  /** @type {Map<string, Walk<T>>} */
  #walks = new Map();

  /** @param {Api} api */
  constructor(api) {
    this.#api = api;
  }

  /**
   * Returns the walk from a request, and begins it if this visit of the place has not asked for it yet.
   * @param {ApiRequest} first
   * @param {() => T} newTally
   */
  from(first, newTally) {
    const walk = this.#walks.get(first.target) ?? new Walk(this.#api, first, newTally);
    this.#walks.delete(first.target);
    this.#walks.set(first.target, walk);
    for (const target of [...this.#walks.keys()].slice(0, -KEPT_WALKS)) this.#walks.delete(target);
    walk.visit();
    return walk;
  }
}
