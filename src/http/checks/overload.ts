import { performance, type PerformanceNodeTiming } from 'node:perf_hooks';
import type { Config } from '../../config.ts';
import { retryLater } from '../response/problem.ts';

export const OVERLOADED = retryLater('overload', 'The service is overloaded. Try again later.', 1);

/** Share of the time that refusals may take. The rest is for answers, however many requests wait. */
const REFUSAL_BUDGET = 0.1;
const MAX_SHARE = 0.95;
/** Weight of one request in the average costs. */
const WEIGHT = 1 / 512;
/** Bound of the cost of one request. Longer times are stalls of the machine, which must not look like work. */
const MAX_COST_MS = 25;
/** Idle time of the event loop after a turn above which no request of that turn waits any more. */
const IDLE_MS = 1;

export interface OverloadOptions {
  readonly config: Pick<Config, 'overloadDelayMs'>;
  readonly connections: () => number;
  readonly openStreams: () => number;
  readonly clock?: () => number;
  /** Returns a number of at least 0 and below 1. */
  readonly random?: () => number;
  /** Number of the current turn of the event loop, and its idle time since the start. */
  readonly eventLoop?: Pick<PerformanceNodeTiming, 'uvMetricsInfo' | 'idleTime'>;
}

/**
 * Creates the function that counts a request, and returns whether to refuse it: a share of a thread's requests is refused
 * while requests wait too long. An exempt one is only counted.
 *
 * Requests wait in the buffers of their sockets, where Node does not see them. A turn of the event loop handles those
 * that arrived during the previous turn, so the requests of a turn estimate the waiting time:
 *
 *     waiting time = requests of a turn × average cost of an answer
 *
 * The cost of a request is the time until the next one, without idle time. With more than 1,024 ready sockets, libuv
 * polls up to 48 times in one turn. Such a turn may handle several requests of a connection, so the number of waiting
 * requests is at most that of connections.
 *
 * The refused share is that at which the waiting requests take the target time, within a budget: a refusal costs about
 * half as much as a small answer, because Node has parsed the request. The choice is random, so that clients that send
 * in a fixed order share the refusals.
 */
export function overloadCheck({
  config,
  connections,
  openStreams,
  clock = () => performance.now(),
  random = Math.random,
  eventLoop = performance.nodeTiming,
}: OverloadOptions) {
  let answerMs = 0.1;
  let refusalMs = 0.05;
  let turn = -1;
  /** Requests of this turn so far. */
  let requests = 0;
  /** Requests of the previous turn with requests; 0 if the event loop was idle after it. */
  let previousRequests = 0;
  /** Idle time at the first request of this turn. */
  let { idleTime } = eventLoop;
  let latestAt = clock();
  let isRefused = false;

  return (isExempt = false): boolean => {
    const now = clock();
    const isNewTurn = eventLoop.uvMetricsInfo.loopCount !== turn;
    const idleMs = isNewTurn ? beginTurn() : 0;
    // Streams send between two turns. That time is not a cost of the latest request.
    if (!isNewTurn || openStreams() === 0) learn(now - latestAt - idleMs);
    requests++;
    latestAt = now;
    isRefused = !isExempt && config.overloadDelayMs > 0 && random() < refusedShare();
    return isRefused;
  };

  /** Returns the idle time since the previous turn with requests. */
  function beginTurn(): number {
    const idleMs = eventLoop.idleTime - idleTime;
    turn = eventLoop.uvMetricsInfo.loopCount;
    idleTime += idleMs;
    previousRequests = idleMs > IDLE_MS ? 0 : requests;
    requests = 0;
    return idleMs;
  }

  /** Adds the time that the latest request took to the average cost of its kind. */
  function learn(ms: number): void {
    const cost = Math.min(ms, MAX_COST_MS);
    if (isRefused) refusalMs += (cost - refusalMs) * WEIGHT;
    else answerMs += (cost - answerMs) * WEIGHT;
  }

  function refusedShare(): number {
    const waiting = Math.min(Math.max(requests, previousRequests), connections());
    const excessMs = waiting * answerMs - config.overloadDelayMs;
    if (excessMs <= 0) return 0;
    const wanted = excessMs / (waiting * Math.max(answerMs - refusalMs, 0));
    const budget = REFUSAL_BUDGET * answerMs;
    return Math.min(wanted, budget / (budget + (1 - REFUSAL_BUDGET) * refusalMs), MAX_SHARE);
  }
}
