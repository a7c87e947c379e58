import type { EventEmitter } from 'node:events';
import type { RequestHandler } from 'express';
import { MemoryStore, rateLimit } from 'express-rate-limit';
import { monotonicNow } from '../../clock.ts';
import { countHit, type HitCounts } from '../../counts/hit-counts.ts';
import { type OpenCounts, STREAMS } from '../../counts/open-counts.ts';
import { retryLater } from '../response/problem.ts';
import { sendProblem } from '../response/send.ts';

const WINDOW_SECONDS = 60;
const WINDOW_MS = WINDOW_SECONDS * 1000;

/**
 * Creates the function that counts a request of the key of a slot, for all workers, and throws a 429 over the limit, with
 * the seconds until the window has ended, whole and at least 1. It adds the headers of
 * draft-ietf-httpapi-ratelimit-headers-08.
 *
 * express-rate-limit awaits several promises for each request: with it, the throughput of one ticket is 0.82 times that
 * without it (docs/performance.md).
 * @param perMinute 0 for no limit
 */
export function keyLimit(perMinute: number, counts: HitCounts, clock = monotonicNow) {
  const name = `"${perMinute}-in-1min"`;
  const policy = `${name}; q=${perMinute}; w=${WINDOW_SECONDS}`;
  return (slot: number, headers: string[]): void => {
    if (perMinute === 0) return;
    const { count, millisecondsLeft } = countHit(counts, slot, WINDOW_MS, clock());
    const seconds = Math.ceil(millisecondsLeft / 1000);
    const limit = `${name}; r=${Math.max(0, perMinute - count)}; t=${seconds}`;
    headers.push('RateLimit-Policy', policy, 'RateLimit', limit);
    if (count <= perMinute) return;
    const detail = `More than ${perMinute} requests in a minute; try again in ${seconds} s.`;
    throw retryLater('rate-limit', detail, seconds);
  };
}

const MAX_STREAMS_PER_KEY = 2;
const TOO_MANY_STREAMS = retryLater(
  'streams',
  `The key already has ${MAX_STREAMS_PER_KEY} open streams (application/x-ndjson); try again when one has ended.`,
);

/**
 * Counts a response as an open stream of the key of a slot until it is closed.
 * @throws Problem 429 beyond the limit
 */
export function countStream(counts: OpenCounts, response: EventEmitter, slot: number): void {
  if (counts.change(slot, 1) > MAX_STREAMS_PER_KEY) {
    counts.change(slot, -1);
    throw TOO_MANY_STREAMS;
  }
  counts.change(STREAMS, 1);
  response.on('close', () => {
    counts.change(slot, -1);
    counts.change(STREAMS, -1);
  });
}

const SPENT = retryLater(
  'refusals',
  'Too many requests without a valid API key came from this address.',
  WINDOW_SECONDS,
);
/** Prefix of the addresses that share a limit. */
const IPV6_BITS = 64;
/** Each takes some 200 bytes. */
const MAX_ADDRESSES = 100_000;

/**
 * Creates the handler that counts requests without a valid key of each address, in this thread, and refuses those beyond
 * the limit. Behind a trusted proxy, the address is the forwarded one. All counts begin again after a minute, or when they
 * are too many: by itself, the store keeps any number, and its windows are as long as the wall clock is set back.
 * @param perMinute 0 for no limit
 */
export function addressLimit(perMinute: number): RequestHandler {
  const counts = new MemoryStore();
  setInterval(() => void counts.resetAll(), WINDOW_MS).unref();
  return rateLimit({
    store: counts,
    windowMs: WINDOW_MS,
    limit: perMinute,
    skip: async () => {
      if (counts.current.size >= MAX_ADDRESSES) await counts.resetAll();
      return perMinute === 0;
    },
    ipv6Subnet: IPV6_BITS,
    standardHeaders: false,
    legacyHeaders: false,
    // The checks would warn of each client that sends X-Forwarded-For itself.
    validate: false,
    handler: (_request, response) => {
      // The log has one line for each request within the limit.
      response.locals.context.isLogged = false;
      sendProblem(response, SPENT);
    },
  });
}
