import type { ListenOptions } from 'node:net';
import type { Config } from '../config.ts';
import type { HitCounts } from '../counts/hit-counts.ts';
import type { CountsBySlot } from '../counts/open-counts.ts';
import type { MetricsMemory } from '../counts/request-metrics.ts';
import type { KeyRow, LastUses } from '../keys/key-ring.ts';
import type { ListName } from '../store/organization-image.ts';
import type { ServedDigests } from '../store/registry/served-digests.ts';
import type {
  OrganizationStore,
  OwnedImage,
  RetainedSection,
  SectionContent,
} from '../store/registry/store-view.ts';

/** The messages between the supervisor and a worker, and the memory that they share. */

/** The configuration, and shared memory: `metrics`, `logRing` and `countsPart` of one worker, the rest of all. */
export interface WorkerData {
  readonly config: Config;
  /** The worker that replaces another continues its counts. */
  readonly metrics: MetricsMemory;
  readonly logRing: SharedArrayBuffer;
  readonly countsPart: CountsBySlot;
  readonly counts: CountsBySlot;
  readonly shownVersion: ShownVersion;
  readonly hits: HitCounts;
  readonly lastUses: LastUses;
  readonly servedDigests: ServedDigests;
}

/** One element: the version of the view that all workers show. */
export type ShownVersion = Int32Array<SharedArrayBuffer>;

/** A store, by the content of its sections. */
export interface SentStore extends Omit<OrganizationStore, 'lists' | 'history' | 'retained'> {
  readonly lists: Readonly<Record<ListName, string>>;
  readonly history: string;
  readonly retained: readonly (Omit<RetainedSection, 'image'> & { readonly image: SectionContent })[];
}

/** A `StoreView`, by its differences from the one before. Its images are those of that one, or were sent since. */
export interface SentView {
  readonly version: number;
  /** The organizations that are removed. */
  readonly gone: readonly string[];
  readonly changed: readonly SentStore[];
}

/** What brings a worker from one view to the next. */
export interface ViewUpdate {
  /** Those that the view before does not have. A message shares their memory. */
  readonly images: readonly OwnedImage[];
  readonly view: SentView;
  /** The memory of images that the view does not have any more, without what live sections share. */
  readonly bytesFreed: number;
}

export type Command =
  | { readonly name: 'add-images'; readonly images: readonly OwnedImage[] }
  /** Prepares a view, which becomes visible when `shownVersion` reaches its version. */
  | { readonly name: 'prepare-view'; readonly view: SentView }
  /** Drops the view before the one that all workers show. */
  | ({ readonly name: 'drop-earlier-view' } & Pick<ViewUpdate, 'bytesFreed'>)
  /** Replaces the keys. For each row, `slots` has the slot of its key. */
  | { readonly name: 'replace-keys'; readonly rows: readonly KeyRow[]; readonly slots: readonly number[] }
  | { readonly name: 'listen'; readonly options: ListenOptions }
  /** Drains the server. In place of a reply, the worker ends. */
  | { readonly name: 'drain'; readonly delaySeconds: number; readonly graceSeconds: number };

export interface NumberedCommand {
  /** From 1 on. */
  readonly number: number;
  readonly command: Command;
}

export interface Reply {
  /** Of the command that is done; 0 when the worker has loaded its program. Replies may arrive in any order. */
  readonly number: number;
  readonly outcome: Outcome;
}

export interface Outcome {
  readonly port?: number;
  /** The reason why the worker does not listen. A message loses the code of an Error. */
  readonly failure?: { readonly message: string; readonly code: unknown; readonly syscall: unknown };
}
