import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { HitSlots, newHitCounts } from '../http/checks/rate-limit.ts';
import { beginGrace, newDrainTimes } from '../http/drain.ts';
import { RequestMetrics } from '../http/request-metrics.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import { LogRing } from '../log/log-ring.ts';
import type { StoreView } from '../store/registry/store-view.ts';
import type { Command, ListenTarget, SentKeys, SystemFailure, WorkerMemory } from './protocol.ts';
import { ViewPublisher } from './shared-views.ts';
import { WorkerHandle } from './worker-handle.ts';

/** A worker that lives for less than this is replaced after a pause. */
const SHORT_LIFE_MS = 10_000;
/** The pause doubles each time. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

const NOT_NEEDED = 'it is no longer needed';

export interface SupervisorOptions {
  /** Number of workers. */
  readonly count: number;
  readonly port: number;
  readonly host: string;
  /** Starts the program of a worker. */
  readonly start: (memory: WorkerMemory) => Worker;
  readonly log: Logger;
}

/** The place of a worker. Its memory stays when another worker takes the place. */
interface Place {
  readonly metrics: RequestMetrics;
  readonly logRing: LogRing;
  worker: WorkerHandle | undefined;
  isListening: boolean;
}

/**
 * Supervises the workers. They share one port, the images, the hit counts, and have the same keys and the same view.
 * A worker that ends is replaced.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #places: readonly Place[];
  readonly #memory: Omit<WorkerMemory, 'metrics' | 'logRing'> = {
    shownVersion: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
    hits: newHitCounts(),
    drain: newDrainTimes(),
  };
  /** The workers that have the latest view and keys, and receive every update. */
  readonly #members = new Set<WorkerHandle>();
  readonly #publisher = new ViewPublisher();
  readonly #slots = new HitSlots();
  readonly #stopping = new AbortController();
  #keys: SentKeys | undefined;
  #port: number;
  #replaced = 0;
  #hasListened = false;
  /** Updates go to the members one after the other. */
  #updating: Promise<unknown> = Promise.resolve();

  /** Starts the workers, which load their program in the meantime. */
  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#port = options.port;
    this.#places = Array.from({ length: options.count }, () => ({
      metrics: new RequestMetrics(),
      logRing: new LogRing(),
      worker: undefined,
      isListening: false,
    }));
    for (const place of this.#places) this.#start(place);
  }

  /** One for each place. */
  get requestMetrics(): readonly RequestMetrics[] {
    return this.#places.map(({ metrics }) => metrics);
  }

  /** One for each place. */
  get logRings(): readonly LogRing[] {
    return this.#places.map(({ logRing }) => logRing);
  }

  /** Number of workers that listen at the moment. */
  get listening(): number {
    return this.#places.filter(({ isListening }) => isListening).length;
  }

  /** Whether all workers have listened at the same time. */
  get hasListened(): boolean {
    return this.#hasListened;
  }

  /** Number of workers that ended and were replaced. */
  get replaced(): number {
    return this.#replaced;
  }

  /** Whether `stop` or `terminate` was called. */
  isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Fulfilled when a worker has loaded its program, or ended before that. */
  get started(): Promise<unknown> {
    return Promise.race(this.#places.flatMap(({ worker }) => worker?.started ?? []));
  }

  /**
   * Lets all workers listen. Returns the port. After an error the caller terminates the workers.
   * @throws the system's error when the port is not available; an error when a worker ends instead
   */
  async listen(): Promise<number> {
    const { port, host } = this.#options;
    const [first, ...others] = this.#places;
    // The probe comes right before the port is taken: replicas that start together would both find it free.
    await first.worker?.started;
    if (port !== 0) await probePort(port, host);
    this.#port = await this.#putToWork(first);
    await Promise.all(others.map((place) => this.#putToWork(place)));
    this.#hasListened = true;
    for (const place of this.#places) void this.#replaceWhenEnded(place);
    return this.#port;
  }

  /** Shows a view in all workers at the same moment. Fulfilled when none of them links to an earlier view. */
  show(view: StoreView): Promise<void> {
    return this.#afterUpdates(async () => {
      const update = this.#publisher.next(view);
      if (update === undefined) return;
      await Promise.all([...this.#members].map((worker) => worker.prepare(update.images, update.view)));
      Atomics.store(this.#memory.shownVersion, 0, update.view.version);
      await this.#runInAll({ name: 'drop-unused-images' });
    });
  }

  /** Replaces the keys of all workers. Fulfilled when they are in force. */
  replaceKeys({ rows }: KeyRing): Promise<void> {
    return this.#afterUpdates(async () => {
      this.#keys = { rows, slots: rows.map(({ keyId }) => this.#slots.of(keyId)) };
      await this.#runInAll({ name: 'replace-keys', keys: this.#keys });
    });
  }

  /** Ends all workers, each when its connections have ended or the grace is over. */
  async stop(graceSeconds: number, hurry: boolean): Promise<void> {
    beginGrace(this.#memory.drain);
    this.#stopping.abort();
    const isIdle = ({ isListening }: Place) => !isListening;
    await terminateAll(this.#places.filter(isIdle), NOT_NEEDED);
    const end = setTimeout(() => void terminateAll(this.#places, 'the grace is over'), graceSeconds * 1000);
    const workers = this.#places.flatMap(({ worker }) => worker ?? []);
    for (const worker of workers) void worker.run({ name: 'stop', graceSeconds, hurry });
    for (let step = 1; workers.some(({ hasEnded }) => !hasEnded); step++) {
      await Promise.all(workers.map((worker) => worker.reachesDrainStep(step)));
      for (const worker of workers) void worker.run({ name: 'continue-drain' });
    }
    clearTimeout(end);
  }

  /** Ends all workers at once. */
  async terminate(): Promise<void> {
    this.#stopping.abort();
    await terminateAll(this.#places, NOT_NEEDED);
  }

  /** Runs an update when all updates before it are done. */
  #afterUpdates(update: () => Promise<void>): Promise<void> {
    const done = this.#updating.then(update);
    this.#updating = done.catch(() => undefined);
    return done;
  }

  async #runInAll(command: Command): Promise<void> {
    await Promise.all([...this.#members].map((worker) => worker.run(command)));
  }

  #start(place: Place): void {
    const worker = new WorkerHandle(
      this.#options.start({
        ...this.#memory,
        metrics: place.metrics.buffer,
        logRing: place.logRing.memory,
      }),
    );
    place.worker = worker;
    void worker.ended.then(() => {
      place.isListening = false;
    });
  }

  /**
   * Brings a worker up to date, and lets it listen. Returns the port.
   * @throws the system's error, or an error with the reason for which the worker ended
   */
  async #putToWork(place: Place): Promise<number> {
    const { worker } = place;
    if (worker === undefined) throw new Error('the place has no worker');
    await worker.started;
    await this.#afterUpdates(() => this.#join(worker));
    const target = { port: this.#port, host: this.#options.host, isShared: this.#places.length > 1 };
    const outcome = await worker.run({ name: 'listen', target });
    if (outcome === undefined) throw new Error(`a worker ended before it listened: ${await worker.ended}`);
    const { port, failure } = outcome;
    if (port === undefined) throw listenError(target, failure);
    place.isListening = true;
    return port;
  }

  async #join(worker: WorkerHandle): Promise<void> {
    const { images, view } = this.#publisher.latest;
    await worker.prepare(images, view);
    if (this.#keys !== undefined) await worker.run({ name: 'replace-keys', keys: this.#keys });
    this.#members.add(worker);
    void worker.ended.then(() => this.#members.delete(worker));
  }

  /** Replaces the worker of a place whenever it ends, until the supervisor stops. */
  async #replaceWhenEnded(place: Place): Promise<void> {
    let startedAt = -Infinity;
    let shortLives = 0;
    for (;;) {
      const reason = await place.worker?.ended;
      if (this.isStopping()) return;
      this.#replaced++;
      shortLives = performance.now() - startedAt < SHORT_LIFE_MS ? shortLives + 1 : 0;
      const pauseMs =
        shortLives === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (shortLives - 1), LONGEST_PAUSE_MS);
      this.#options.log.error({ reason, pauseMs }, 'a worker ended and is replaced');
      await delay(pauseMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
      if (this.isStopping()) return;
      startedAt = performance.now();
      this.#start(place);
      try {
        await this.#putToWork(place);
        this.#options.log.info('the new worker listens');
      } catch (error) {
        await place.worker?.terminate(error instanceof Error ? error.message : String(error));
      }
    }
  }
}

async function terminateAll(places: readonly Place[], reason: string): Promise<void> {
  await Promise.all(places.map(({ worker }) => worker?.terminate(reason) ?? Promise.resolve()));
}

/**
 * Fails when a port is in use. Workers share their port, so that one of them would take it from another program that
 * shares it too.
 * @throws the system's error
 */
async function probePort(port: number, host: string): Promise<void> {
  const server = createServer().listen({ port, host, exclusive: true });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}

function listenError({ isShared }: ListenTarget, failure: SystemFailure | undefined): Error {
  const { message = 'the worker cannot listen', code, syscall } = failure ?? {};
  const isUnable = isShared && code === 'ENOTSUP';
  const detail = isUnable ? 'this system cannot share a port among threads: set THREADS to 1' : message;
  return Object.assign(new Error(detail), { code, syscall });
}
