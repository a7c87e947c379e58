import { parentPort, workerData } from 'node:worker_threads';
import { pino } from 'pino';
import { createApp } from './http/app.ts';
import type { Config } from './config.ts';
import { RELEASES } from './contract/releases.ts';
import { watchOverload } from './http/checks/availability.ts';
import { createServer } from './http/server.ts';
import { Tally } from './http/tally.ts';
import { followOrders } from './threads/follow-orders.ts';
import { LogRing } from './threads/log-ring.ts';
import { ThreadKeys } from './threads/thread-keys.ts';
import type { ThreadMemory } from './threads/thread-protocol.ts';
import { ThreadStores } from './threads/thread-stores.ts';

/** A thread that answers requests. */

export interface ThreadData {
  readonly config: Config;
  readonly memory: ThreadMemory;
}

if (parentPort === null) throw new Error('this is the program of a thread');
const { config, memory } = workerData as ThreadData;
const logRing = new LogRing(memory.logRing);
const log = pino({ level: config.logLevel }, logRing);
const tally = new Tally(memory.tally);
const stores = new ThreadStores(memory.turn);
const keys = new ThreadKeys();

const dependencies = {
  config,
  stores,
  keys: () => keys.current,
  overload: () => watch.isOverloaded(),
  clock: Date.now,
  releases: RELEASES,
  tally,
  hits: { counts: memory.hits, slotOf: (keyId: string) => keys.slotOf(keyId) },
  log,
};
const server = createServer(createApp(dependencies), dependencies);
// Not before: to make the app ready holds the event loop, but nobody waits yet.
const watch = watchOverload(config.overloadDelayMs, tally);
followOrders({ server, memory, stores, keys, supervisor: parentPort, end: () => process.exit() });
