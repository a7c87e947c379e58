import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { monotonicNow } from '../../clock.ts';
import { networkOf, type Networks } from '../../counts/networks.ts';
import { Problem } from '../response/problem.ts';
import { sendProblem } from '../response/send.ts';

const WINDOW_SECONDS = 60;
const WINDOW_MS = WINDOW_SECONDS * 1000;
/** Refusals of a network in a minute that have a log line each. */
const LOGGED_PER_MINUTE = 100;
/** Networks with a summary line of their own. The refusals of others are added up. */
const MAX_SUMMARIES = 100;
const OTHERS = 'others';

const SPENT = new Problem(429, 'Too many requests without a valid API key came from this address.', {
  headers: ['Retry-After', String(WINDOW_SECONDS), 'Connection', 'close'],
  reason: 'refusals',
});

/**
 * Counts the refusals of each network to clients without a valid key. Beyond the budget, a short 429 that closes the
 * connection replaces them. The log has one summary line a minute for the refusals of a network beyond the first ones.
 */
export class RefusalBudget {
  readonly #perMinute: number;
  readonly #networks: Networks;
  readonly #log: Logger;
  readonly #clock: () => number;
  readonly #unlogged = new Map<string, number>();

  /** @param perMinute 0 for no limit */
  constructor(perMinute: number, networks: Networks, log: Logger, clock = monotonicNow) {
    this.#perMinute = perMinute;
    this.#networks = networks;
    this.#log = log;
    this.#clock = clock;
    setInterval(() => {
      this.logSummaries();
    }, WINDOW_MS).unref();
  }

  /** Refuses the request of a client without a valid key. */
  refuse({ ip = '' }: Request, response: Response, refused: Problem, send = sendProblem): void {
    const { problem, isLogged } =
      refused.status === 429 ? { problem: refused, isLogged: true } : this.apply(refused, ip);
    response.locals.context.isLogged = isLogged;
    send(response, problem);
  }

  /**
   * Counts a refusal of a client.
   * @returns the problem to send, which is the given one within the budget, and whether the request has a log line
   */
  apply(problem: Problem, address: string) {
    const network = networkOf(address);
    const count = this.#networks.countHit(network, WINDOW_MS, this.#clock());
    const isLogged = count <= LOGGED_PER_MINUTE;
    if (!isLogged) {
      const key = this.#unlogged.has(network) || this.#unlogged.size < MAX_SUMMARIES ? network : OTHERS;
      this.#unlogged.set(key, (this.#unlogged.get(key) ?? 0) + 1);
    }
    const isSpent = this.#perMinute > 0 && count > this.#perMinute;
    return { problem: isSpent ? SPENT : problem, isLogged };
  }

  /** Logs the refusals since the last call that have no line of their own. */
  logSummaries(): void {
    for (const [network, requests] of this.#unlogged)
      this.#log.warn({ network, requests }, 'refused requests without a valid key');
    this.#unlogged.clear();
  }
}
