import type { DrainMoments } from '../http/drain.ts';
import type { HitCounts } from '../http/checks/hit-counter.ts';
import type { KeyRow } from '../keys/key-ring.ts';
import type { OrganizationImage } from '../store/organization-image.ts';

/** What a thread that answers requests, and the supervisor of all such threads, say to each other. */

/** Memory that all threads share, but for the first two parts. */
export interface ThreadMemory {
  /** Of its tally. A thread that takes the place of another goes on with what that one had counted. */
  readonly tally: SharedArrayBuffer;
  /** The ring that its log lines go to. */
  readonly logRing: SharedArrayBuffer;
  /** One number: the version of the view that all threads show. */
  readonly turn: Turn;
  readonly hits: HitCounts;
  readonly drain: DrainMoments;
}

export type Turn = Int32Array<SharedArrayBuffer>;

/** An image, and the number that views name it by. It is received by reference: the memory is shared. */
export interface SentImage {
  readonly number: number;
  readonly image: OrganizationImage;
  /** The word of its mark of walks. */
  readonly walks: Int32Array<SharedArrayBuffer>;
}

/** A store, by the number of its image. */
export interface SentStore {
  readonly number: number;
  readonly snapshotId: string;
  readonly producedAt: string;
}

/** A `StoreView`, of images that were sent. */
export interface SentView {
  /** From 1 on. */
  readonly version: number;
  readonly live: readonly SentStore[];
  /** Of each organization the last one first. */
  readonly retained: readonly SentStore[];
}

export interface SentKeys {
  readonly rows: readonly KeyRow[];
  /** For each of them, where its hits are counted. */
  readonly slots: readonly number[];
}

export interface Listening {
  readonly port: number;
  readonly host: string;
  /** Whether other threads listen on the port as well. */
  readonly isShared: boolean;
}

export interface Stopping {
  readonly graceSeconds: number;
  /** Whether nobody is to be waited for but requests under way. */
  readonly hurry: boolean;
}

/** What a thread is to do. */
export type Order =
  /** One at a time: to receive thousands of buffers at once takes a time that grows with the square of their number. */
  | { readonly name: 'know'; readonly content: SentImage }
  /** A view of images that are known, to be shown when its turn comes. */
  | { readonly name: 'prepare'; readonly content: SentView }
  /** The turn has come, in all threads: what the view does not hold may go. */
  | { readonly name: 'settle' }
  | { readonly name: 'take'; readonly content: SentKeys }
  | { readonly name: 'listen'; readonly content: Listening }
  /** The grace has begun. Done when nobody is connected any more; then the thread ends. */
  | { readonly name: 'stop'; readonly content: Stopping }
  /** All threads have come as far on their way to the end as this one said. */
  | { readonly name: 'go on' };

/** To the thread. */
export interface Asked {
  readonly number: number;
  readonly order: Order;
}

/** From the thread. */
export type Told =
  /** It is ready to follow orders. */
  | { readonly isStarted: true }
  /** On the way to its end it has come to a step, and waits until all others have; from 1 on. */
  | { readonly waitsAt: number }
  /** What was asked under a number is done. Not always in the order in which it was asked. */
  | { readonly answered: number; readonly outcome: Outcome };

export interface Outcome {
  /** On which it listens. */
  readonly port?: number;
  /** What keeps it from listening. */
  readonly failure?: SystemFailure;
}

/** An error of the system. As an error it would arrive without its code. */
export interface SystemFailure {
  readonly message: string;
  readonly code: string | undefined;
  readonly syscall: string | undefined;
}
