import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { canSharePort, type Config } from '../config.ts';
import { probePort } from '../http/connections/listener.ts';
import { newHitCounts } from '../counts/hit-counts.ts';
import { newOpenCounts, OpenCounts } from '../counts/open-counts.ts';
import { RequestMetrics } from '../counts/request-metrics.ts';
import { addSlot, type KeyRow, lastKeyUse, MAX_SLOTS, newLastUses } from '../keys/key-ring.ts';
import { LogRing } from '../log/log-ring.ts';
import { newServedDigests } from '../store/registry/served-digests.ts';
import type { StoreView } from '../store/registry/store-view.ts';
import type { Command, WorkerData } from './protocol.ts';
import { ViewPublisher } from './shared-views.ts';
import { WorkerHandle } from './worker-handle.ts';

/** A worker that ends sooner is replaced after a pause. */
const SHORT_LIFE_MS = 10_000;
const PAUSE_MS = 1000;
/** Time for a worker to exit after the grace. */
const EXIT_MS = 500;

const PROGRAM = new URL('./worker.ts', import.meta.url);

/** A slot for a worker. Its memory remains when another worker replaces the first. */
interface WorkerSlot {
  readonly metrics: RequestMetrics;
  readonly logRing: LogRing;
  readonly counts: OpenCounts;
  worker: WorkerHandle;
}

/**
 * Supervises the workers. They share one port, the images, the hit counts and the last uses, and have the same keys
 * and the same view. A worker that ends is replaced.
 */
export class Supervisor {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #slots: readonly WorkerSlot[];
  /** One for each slot. */
  readonly requestMetrics;
  readonly logRings;
  /** The open connections, streams and unsent bytes of all workers. */
  readonly counts: Pick<OpenCounts, 'inAll' | 'limit'>;
  /** The slot of each key that the keys file has had. */
  readonly #keySlots = new Map<string, number>();
  /** The main thread notes released content here. */
  readonly servedDigests = newServedDigests();
  readonly #memory: Omit<WorkerData, 'config' | 'metrics' | 'logRing' | 'countsPart'> = {
    shownVersion: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
    hits: newHitCounts(MAX_SLOTS),
    counts: newOpenCounts(),
    lastUses: newLastUses(),
    servedDigests: this.servedDigests,
  };
  /** The workers that have the latest view, and receive every update. */
  readonly #members = new Set<WorkerHandle>();
  /** Number of workers that listen. */
  listening = 0;
  /** Whether all workers have listened at the same time. */
  hasListened = false;
  /** Number of workers that ended and were replaced. */
  replaced = 0;
  readonly #publisher = new ViewPublisher();
  readonly #stopping = new AbortController();
  /** The latest keys, as a new worker receives them. */
  #keysCommand: Command | undefined;
  #port: number;
  /** Updates go to the members one after the other. */
  #updating: Promise<unknown> = Promise.resolve();

  /** Starts the workers. */
  constructor(config: Config, log: Logger) {
    this.#config = config;
    this.#log = log;
    this.#port = config.port;
    this.#slots = Array.from({ length: config.threads }, () => {
      const memory = {
        metrics: new RequestMetrics(),
        logRing: new LogRing(),
        counts: new OpenCounts(this.#memory.counts),
      };
      return { ...memory, worker: this.#start(memory) };
    });
    this.requestMetrics = this.#slots.map(({ metrics }) => metrics);
    this.logRings = this.#slots.map(({ logRing }) => logRing);
    this.counts = this.#slots[0].counts;
  }

  /** Returns the hour of the last use of a key, ISO 8601 in UTC; undefined without a use since the start. */
  lastUseOf(keyId: string): string | undefined {
    const slot = this.#keySlots.get(keyId);
    return slot === undefined ? undefined : lastKeyUse(this.#memory.lastUses, slot);
  }

  isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Fulfilled when all workers have loaded their program, or ended before that. */
  get allStarted(): Promise<unknown> {
    return Promise.all(this.#workers.map(({ started }) => started));
  }

  /**
   * Starts the listeners of all workers, which accept at most `maxConnections` in all. Returns the port. After an
   * error the caller terminates the workers.
   * @throws the system's error when the port is not available; an error when a worker ends instead
   */
  async listen(maxConnections: number): Promise<number> {
    const { port, host } = this.#config;
    const [first, ...further] = this.#slots;
    first.counts.limit = maxConnections;
    // The probe runs right before the port is bound. Otherwise, replicas that start together would both find it free.
    if (port !== 0) await probePort(port, host);
    this.#port = await this.#bringUp(first);
    await Promise.all(further.map((slot) => this.#bringUp(slot)));
    this.hasListened = true;
    for (const slot of this.#slots) void this.#replaceWhenEnded(slot);
    return this.#port;
  }

  /** Publishes a view to all workers, at the same moment. Fulfilled when no worker uses an earlier view. */
  publish(view: StoreView): Promise<void> {
    return this.#afterUpdates(async () => {
      const update = this.#publisher.next(view);
      if (update === undefined) return;
      await Promise.all([...this.#members].map((worker) => worker.prepare(update)));
      Atomics.store(this.#memory.shownVersion, 0, update.view.version);
      await this.#runInAll({ name: 'drop-earlier-view', bytesFreed: update.bytesFreed });
    });
  }

  /** Replaces the keys of all workers, also during a swap. Fulfilled when the keys are in force. */
  replaceKeys(rows: readonly KeyRow[]): Promise<void> {
    const slots = rows.map(({ keyId }) => addSlot(this.#keySlots, keyId));
    this.#keysCommand = { name: 'replace-keys', rows, slots };
    return this.#runInAll(this.#keysCommand);
  }

  /** Ends each worker after a delay when its connections have ended, at the latest when the grace is over. */
  async stop(delaySeconds: number, graceSeconds: number): Promise<void> {
    this.#stopping.abort();
    const longestMs = (delaySeconds + graceSeconds) * 1000 + EXIT_MS;
    const end = setTimeout(() => void this.terminate('the grace is over'), longestMs);
    const drain: Command = { name: 'drain', delaySeconds, graceSeconds };
    await Promise.all(this.#workers.map((worker) => worker.run(drain)));
    clearTimeout(end);
  }

  async terminate(reason = 'it is no longer needed'): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#workers.map((worker) => worker.terminate(reason)));
  }

  get #workers(): readonly WorkerHandle[] {
    return this.#slots.map(({ worker }) => worker);
  }

  #afterUpdates(update: () => Promise<void>): Promise<void> {
    const done = this.#updating.then(update);
    this.#updating = done.catch(() => undefined);
    return done;
  }

  async #runInAll(command: Command): Promise<void> {
    await Promise.all([...this.#members].map((worker) => worker.run(command)));
  }

  #start(slot: Omit<WorkerSlot, 'worker'>): WorkerHandle {
    const own = { metrics: slot.metrics.memory, logRing: slot.logRing.memory, countsPart: slot.counts.part };
    const workerData: WorkerData = { config: this.#config, ...this.#memory, ...own };
    return new WorkerHandle(new Worker(PROGRAM, { workerData }));
  }

  /**
   * Sends the current view and keys to a worker, then starts its listener. Returns the port.
   * @throws the system's error, or an error with the reason why the worker ended
   */
  async #bringUp({ worker }: WorkerSlot): Promise<number> {
    await worker.started;
    await this.#afterUpdates(() => this.#join(worker));
    const options = { port: this.#port, host: this.#config.host, reusePort: canSharePort() };
    const outcome = await worker.run({ name: 'listen', options });
    if (outcome === undefined) throw new Error(`a worker ended before it listened: ${await worker.ended}`);
    const { port = this.#port, failure } = outcome;
    if (failure !== undefined) throw Object.assign(new Error(failure.message), failure);
    this.listening++;
    void worker.ended.then(() => this.listening--);
    return port;
  }

  async #join(worker: WorkerHandle): Promise<void> {
    await worker.prepare(this.#publisher.latest);
    // Keys that replace these are sent after them.
    this.#members.add(worker);
    void worker.ended.then(() => this.#members.delete(worker));
    if (this.#keysCommand !== undefined) await worker.run(this.#keysCommand);
  }

  /** Replaces the worker of a slot whenever it ends, until the supervisor stops. */
  async #replaceWhenEnded(slot: WorkerSlot): Promise<void> {
    let startedAt = -Infinity;
    for (;;) {
      const reason = await slot.worker.ended;
      slot.counts.clear();
      if (this.isStopping()) return;
      this.replaced++;
      const pauseMs = performance.now() - startedAt < SHORT_LIFE_MS ? PAUSE_MS : 0;
      this.#log.error({ reason, pauseMs }, 'a worker ended and is replaced');
      await delay(pauseMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
      if (this.isStopping()) return;
      startedAt = performance.now();
      slot.worker = this.#start(slot);
      try {
        await this.#bringUp(slot);
        this.#log.info('the new worker listens');
      } catch (error) {
        await slot.worker.terminate(error instanceof Error ? error.message : String(error));
      }
    }
  }
}
