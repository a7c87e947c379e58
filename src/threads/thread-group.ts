import { setTimeout as delay } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { beginGrace, newDrainMoments } from '../http/drain.ts';
import { HitSlots, newHitCounts } from '../http/checks/hit-counter.ts';
import { Tally } from '../http/tally.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { StoreView } from '../store/store-view.ts';
import { AnsweringThread } from './answering-thread.ts';
import { LogRing } from './log-ring.ts';
import { probePort } from './probe-port.ts';
import type {
  Listening,
  Order,
  SentImage,
  SentKeys,
  SentView,
  SystemFailure,
  ThreadMemory,
} from './thread-protocol.ts';
import { ViewFeed } from './view-feed.ts';

/** A thread that ended sooner than this after its start is not replaced at once, but after a pause. */
const SHORT_LIFE_MS = 10_000;
/** It doubles each time. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** So many images are on their way to a thread at a time: between them it answers requests. */
const IMAGES_AT_A_TIME = 8;

const NOT_NEEDED = 'it is not needed any more';

export interface ThreadGroupOptions {
  /** How many threads answer. */
  readonly count: number;
  readonly port: number;
  readonly host: string;
  /** Starts the program of a thread. */
  readonly start: (memory: ThreadMemory) => Worker;
  readonly log: Logger;
}

/** The place of one thread, which another takes when it ends. */
interface Place {
  readonly tally: Tally;
  readonly logRing: LogRing;
  thread: AnsweringThread | undefined;
  isListening: boolean;
}

/**
 * The threads that answer requests: all of one port, with the same keys, the same view of the same memory, and counts
 * in common. One that ends is replaced.
 */
export class ThreadGroup {
  readonly #options: ThreadGroupOptions;
  readonly #places: readonly Place[];
  readonly #memory: Omit<ThreadMemory, 'tally' | 'logRing'> = {
    turn: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
    hits: newHitCounts(),
    drain: newDrainMoments(),
  };
  /** Those that have what there is, and are told what is new. */
  readonly #members = new Set<AnsweringThread>();
  readonly #feed = new ViewFeed();
  readonly #slots = new HitSlots();
  readonly #stopping = new AbortController();
  #keys: SentKeys | undefined;
  #port: number;
  #replaced = 0;
  #hasListened = false;
  /** What all threads are told goes one after the other. */
  #telling: Promise<unknown> = Promise.resolve();

  /** Starts the threads: they load their programs while others do their work. */
  constructor(options: ThreadGroupOptions) {
    this.#options = options;
    this.#port = options.port;
    this.#places = Array.from({ length: options.count }, () => ({
      tally: new Tally(),
      logRing: new LogRing(),
      thread: undefined,
      isListening: false,
    }));
    for (const place of this.#places) this.#start(place);
  }

  /** One for each thread; what it counted stays when it ends. */
  get tallies(): readonly Tally[] {
    return this.#places.map(({ tally }) => tally);
  }

  /** The log lines of each thread. */
  get logRings(): readonly LogRing[] {
    return this.#places.map(({ logRing }) => logRing);
  }

  get count(): number {
    return this.#places.length;
  }

  /** How many threads answer at the moment. */
  get listening(): number {
    return this.#places.filter(({ isListening }) => isListening).length;
  }

  /** Whether there was a time when all of them did. */
  get hasListened(): boolean {
    return this.#hasListened;
  }

  /** How many threads took the place of one that had ended. */
  get replaced(): number {
    return this.#replaced;
  }

  /** Fulfilled when one of them has loaded its program, or ended before that. */
  get started(): Promise<unknown> {
    return Promise.race(this.#places.flatMap(({ thread }) => thread?.started ?? []));
  }

  /**
   * Has all threads listen. Returns the port.
   * @throws the system's error when the port cannot be had; an error when a thread ends instead
   */
  async listen(): Promise<number> {
    const { port, host } = this.#options;
    try {
      const [first, ...others] = this.#places;
      // Just before it is taken: what is started at the same time would else find it free as well.
      await first.thread?.started;
      if (port !== 0) await probePort(port, host);
      this.#port = await this.#putToWork(first);
      await Promise.all(others.map((place) => this.#putToWork(place)));
    } catch (error) {
      await this.terminate();
      throw error;
    }
    this.#hasListened = true;
    for (const place of this.#places) void this.#replaceWhenEnded(place);
    return this.#port;
  }

  /** Has all threads show a view at the same moment. Fulfilled when none of them gives out links to an earlier one. */
  show(view: StoreView): Promise<void> {
    return this.#next(async () => {
      const sent = this.#feed.next(view);
      if (sent === undefined) return;
      await Promise.all([...this.#members].map((thread) => prepare(thread, sent)));
      Atomics.store(this.#memory.turn, 0, sent.view.version);
      await this.#tell({ name: 'settle' });
    });
  }

  /** Has all threads know these keys and no others. Fulfilled when they do. */
  take({ rows }: KeyRing): Promise<void> {
    return this.#next(async () => {
      this.#keys = { rows, slots: rows.map(({ keyId }) => this.#slots.of(keyId)) };
      await this.#tell({ name: 'take', content: this.#keys });
    });
  }

  /** Ends all threads, each when nobody is connected to it any more, or the grace is over. */
  async stop(graceSeconds: number, hurry: boolean): Promise<void> {
    beginGrace(this.#memory.drain);
    this.#stopping.abort();
    const order: Order = { name: 'stop', content: { graceSeconds, hurry } };
    const isIdle = ({ isListening }: Place) => !isListening;
    await terminateAll(this.#places.filter(isIdle), NOT_NEEDED);
    const end = setTimeout(() => void terminateAll(this.#places, 'the grace is over'), graceSeconds * 1000);
    const threads = this.#places.flatMap(({ thread }) => thread ?? []);
    for (const thread of threads) void thread.ask(order);
    for (let step = 1; threads.some(({ hasEnded }) => !hasEnded); step++) {
      await Promise.all(threads.map((thread) => thread.waitsAt(step)));
      for (const thread of threads) void thread.ask({ name: 'go on' });
    }
    clearTimeout(end);
  }

  /** Ends all threads at once. */
  async terminate(): Promise<void> {
    this.#stopping.abort();
    await terminateAll(this.#places, NOT_NEEDED);
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Does what is told to all threads when everything before it is done. */
  #next(tell: () => Promise<void>): Promise<void> {
    const done = this.#telling.then(tell);
    this.#telling = done.catch(() => undefined);
    return done;
  }

  async #tell(order: Order): Promise<void> {
    await Promise.all([...this.#members].map((thread) => thread.ask(order)));
  }

  #start(place: Place): void {
    const memory: ThreadMemory = {
      ...this.#memory,
      tally: place.tally.buffer,
      logRing: place.logRing.memory,
    };
    const thread = new AnsweringThread(this.#options.start(memory));
    place.thread = thread;
    void thread.ended.then(() => {
      place.isListening = false;
    });
  }

  /**
   * Has the thread of a place listen, once it knows all that there is to know. Returns the port.
   * @throws the system's error, or one that says why the thread ended
   */
  async #putToWork(place: Place): Promise<number> {
    const { thread } = place;
    if (thread === undefined) throw new Error('there is no thread');
    await thread.started;
    await this.#next(() => this.#join(thread));
    const isShared = this.#places.length > 1;
    const content: Listening = { port: this.#port, host: this.#options.host, isShared };
    const outcome = await thread.ask({ name: 'listen', content });
    if (outcome === undefined) throw new Error(`a thread ended at its start: ${await thread.ended}`);
    const { port, failure } = outcome;
    if (port === undefined) throw listenError(content, failure);
    place.isListening = true;
    return port;
  }

  async #join(thread: AnsweringThread): Promise<void> {
    await prepare(thread, this.#feed.latest);
    if (this.#keys !== undefined) await thread.ask({ name: 'take', content: this.#keys });
    this.#members.add(thread);
    void thread.ended.then(() => this.#members.delete(thread));
  }

  /** Has another thread take the place of one that ends, and of that one, until all are to stop. */
  async #replaceWhenEnded(place: Place): Promise<void> {
    let startedAt = -Infinity;
    let shortLives = 0;
    for (;;) {
      const reason = await place.thread?.ended;
      if (this.#isStopping()) return;
      this.#replaced++;
      shortLives = performance.now() - startedAt < SHORT_LIFE_MS ? shortLives + 1 : 0;
      const pauseMs =
        shortLives === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (shortLives - 1), LONGEST_PAUSE_MS);
      this.#options.log.error({ reason, pauseMs }, 'a thread ended; another takes its place');
      await delay(pauseMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
      if (this.#isStopping()) return;
      startedAt = performance.now();
      this.#start(place);
      try {
        await this.#putToWork(place);
        this.#options.log.info('the other thread answers');
      } catch (error) {
        await place.thread?.terminate(error instanceof Error ? error.message : String(error));
      }
    }
  }
}

async function terminateAll(places: readonly Place[], reason: string): Promise<void> {
  await Promise.all(places.map(({ thread }) => thread?.terminate(reason) ?? Promise.resolve()));
}

/** Gives a thread what it takes to show a view. */
async function prepare(
  thread: AnsweringThread,
  { images, view }: { readonly images: readonly SentImage[]; readonly view: SentView },
): Promise<void> {
  for (let i = 0; i < images.length; i += IMAGES_AT_A_TIME) {
    const some = images.slice(i, i + IMAGES_AT_A_TIME);
    await Promise.all(some.map((image) => thread.ask({ name: 'know', content: image })));
  }
  await thread.ask({ name: 'prepare', content: view });
}

function listenError({ isShared }: Listening, failure: SystemFailure | undefined): Error {
  const { message = 'it does not listen', code, syscall } = failure ?? {};
  const isUnable = isShared && code === 'ENOTSUP';
  const what = isUnable ? 'this system cannot share a port among threads: set THREADS to 1' : message;
  return Object.assign(new Error(what), { code, syscall });
}
