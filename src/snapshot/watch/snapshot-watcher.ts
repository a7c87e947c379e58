import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { SnapshotImage } from '../../store/organization-image.ts';
import type { StoreRegistry } from '../../store/registry/store-registry.ts';
import { aheadOfClock, loadedCounts } from '../format/succession.ts';
import {
  DEPENDENT_REASONS,
  type RefusalReason,
  RefusedSnapshot,
  TRANSIENT_REASONS,
} from '../format/refused-snapshot.ts';
import type { LoadHistory } from './load-history.ts';
import { type SeenFile, SnapshotFolder } from './snapshot-folder.ts';

/** Pause after the first transient refusal of a file. It doubles with each further one, up to the maximum. */
const FIRST_PAUSE_MS = 5000;
const MAX_PAUSE_MS = 300_000;

interface WatcherDependencies {
  readonly folder: string;
  readonly stores: StoreRegistry;
  readonly history: LoadHistory;
  /**
   * Loads the file at a path without links. Rejects with RefusedSnapshot when the file may not go live, and with the
   * reason of the signal.
   */
  readonly load: (file: string, path: string, signal: AbortSignal) => Promise<SnapshotImage>;
  /**
   * Replaces the organizations of the file with those of the image, also those of other files. Fulfilled when all
   * workers use it.
   */
  readonly goLive: (file: string, image: SnapshotImage) => Promise<void>;
  /** Whether threads of abandoned loads still run. Retries wait for their end, since they hold memory. */
  readonly hasUnendedLoads: () => boolean;
  readonly log: Logger;
  readonly settleMs?: number;
  readonly clock?: () => number;
}

/** A file version that was loaded or refused. It is loaded again when the clock reaches `dueAt`. */
interface TriedFile {
  readonly version: string;
  /** Undefined when it is live. */
  readonly reason?: RefusalReason;
  readonly refusals: number;
  readonly dueAt: number;
}

/** Loads the snapshot files of a folder into the registry, one at a time, and again when they change. */
export class SnapshotWatcher {
  readonly #dependencies: WatcherDependencies;
  readonly #folder: SnapshotFolder;
  readonly #clock: () => number;
  readonly #tried = new Map<string, TriedFile>();
  readonly #stop = new AbortController();
  #polling: Promise<void> | undefined;
  /** The files of the latest listing of a poll. */
  #listed: readonly string[] = [];
  /** The load of a file that was refused before, which ends when another file waits. */
  #retry: { readonly file: string; readonly abort: AbortController } | undefined;
  #first: ReadonlyMap<string, SeenFile> | undefined;
  /** The reason why the folder cannot be read, or undefined. Each reason is logged once. */
  complaint: string | undefined;
  /**
   * Whether the start is over: the files that were in the folder at first were loaded or refused. Files that still change
   * do not count.
   */
  hasTriedAll = false;

  constructor(dependencies: WatcherDependencies) {
    this.#dependencies = dependencies;
    this.#folder = new SnapshotFolder(dependencies.folder, dependencies.settleMs);
    this.#clock = dependencies.clock ?? (() => performance.now());
  }

  /**
   * Loads the files that changed, once they have settled. Never rejects.
   * Concurrent calls share one poll. After the first, a change in the folder also starts a poll.
   */
  poll(): Promise<void> {
    void this.#endRetry();
    this.#polling ??= this.#poll().finally(() => {
      this.#polling = undefined;
    });
    return this.#polling;
  }

  async #poll(): Promise<void> {
    const { signal } = this.#stop;
    try {
      await this.#loadChanges(signal);
    } catch (error) {
      const reason = messageOf(error);
      if (signal.aborted || reason === this.complaint) return;
      this.complaint = reason;
      this.#dependencies.log.error({ reason }, 'the snapshot folder cannot be read; retrying');
    }
  }

  /** Stops polling. A load in progress continues, but its snapshot does not go live. */
  stop(): void {
    this.#stop.abort();
  }

  async #loadChanges(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      this.#folder.listen(() => void this.poll(), signal);
      const files = await this.#folder.list();
      if (this.complaint !== undefined) this.#dependencies.log.info('the snapshot folder can be read again');
      this.complaint = undefined;
      this.#first ??= files;
      for (const file of this.#listed) if (!files.has(file)) this.#forget(file);
      this.#listed = [...files.keys()];
      const changed = [...files].filter(([file, { version }]) => this.#isDue(file, version));
      const settled = changed.filter(([, seen]) => this.#folder.restOf(seen) <= 0);
      for (const [file, { version }] of settled) {
        signal.throwIfAborted();
        await this.#load(file, version);
      }
      this.hasTriedAll ||= this.#first
        .entries()
        .every(([file, { version }]) => this.#tried.has(file) || files.get(file)?.version !== version);
      if (changed.length === 0) return;
      if (settled.length > 0) continue;
      const rests = changed.map(([, seen]) => this.#folder.restOf(seen));
      await setTimeout(Math.min(...rests), undefined, { signal });
    }
  }

  #isDue(file: string, version: string): boolean {
    const tried = this.#tried.get(file);
    if (tried?.version !== version) return true;
    return tried.dueAt <= this.#clock() && !this.#dependencies.hasUnendedLoads();
  }

  /** Ends a further load of a file if another file is due: a slow one delays the others only once. */
  async #endRetry(): Promise<void> {
    if (this.#retry === undefined) return;
    const { file: slow, abort } = this.#retry;
    const files = await this.#folder.list().catch(() => new Map<string, SeenFile>());
    const isDue = ([file, { version }]: [string, SeenFile]) =>
      file !== slow && this.#isDue(file, version) && this.#tried.get(file)?.reason !== 'timeout';
    if ([...files].some(isDue))
      abort.abort(new RefusedSnapshot('timeout', 'it took too long, and another file was due'));
  }

  /** Makes files due at once that were refused for one of the reasons. */
  retry(reasons: readonly RefusalReason[]): void {
    for (const [file, { reason }] of this.#tried)
      if (reason !== undefined && reasons.includes(reason)) this.#tried.delete(file);
  }

  /** Loads a file and makes it live. Any error is a refusal of this file, so that the others still load. */
  async #load(file: string, version: string): Promise<void> {
    const { stores, history, load, goLive, log } = this.#dependencies;
    const startedAt = new Date().toISOString();
    const started = performance.now();
    const before = this.#tried.get(file);
    this.#tried.set(file, { version, refusals: 0, dueAt: Infinity });
    const durationMs = () => Math.round(performance.now() - started);
    history.loading = { file, startedAt };
    const abort = new AbortController();
    const isRetry =
      before?.reason !== undefined && (before.version === version || before.reason === 'timeout');
    if (isRetry) this.#retry = { file, abort };
    try {
      const image = await load(file, await this.#folder.pathOf(file), abort.signal);
      if (this.#stop.signal.aborted) return;
      const replaced = stores.replacedBy(file, image.organizations);
      await goLive(file, image);
      // A file that has lost an organization is refused by its next load.
      for (const { file: other } of replaced) if (other !== file) this.#tried.delete(other);
      this.retry(DEPENDENT_REASONS);
      const { snapshotId, producedAt } = image;
      const live = [...stores.live.values()].filter((one) => one.file === file);
      const counts = live.flatMap(({ store }) => Object.values(loadedCounts(store)));
      const rows = counts.reduce((sum, count) => sum + count, 0);
      const facts = { file, snapshotId, producedAt, organizations: live.length, rows };
      history.add({ ...facts, outcome: 'live', startedAt, durationMs: durationMs() });
      log.info({ ...facts, durationMs: durationMs() }, 'snapshot live');
      const warning = aheadOfClock(producedAt, Date.now());
      if (warning !== undefined) log.warn({ file, snapshotId, warning }, 'snapshot ahead of the clock');
    } catch (error) {
      const reason = error instanceof RefusedSnapshot ? error.reason : 'loader-failed';
      const refusals = before?.version === version ? before.refusals : 0;
      const isTransient = TRANSIENT_REASONS.includes(reason);
      const pauseMs = isTransient ? Math.min(FIRST_PAUSE_MS * 2 ** refusals, MAX_PAUSE_MS) : Infinity;
      this.#tried.set(file, { version, reason, refusals: refusals + 1, dueAt: this.#clock() + pauseMs });
      const nextTryAt = isTransient ? new Date(Date.now() + pauseMs).toISOString() : undefined;
      const refusal = { file, reason, detail: messageOf(error), nextTryAt };
      history.add({ ...refusal, outcome: 'refused', startedAt, durationMs: durationMs() });
      log.error(refusal, 'snapshot refused');
    } finally {
      history.loading = undefined;
      this.#retry = undefined;
    }
  }

  /** Forgets a file that is gone. Its organizations stay live, but another file may now contain them. */
  #forget(file: string): void {
    const { stores, history, log } = this.#dependencies;
    this.#tried.delete(file);
    history.forget(file);
    if (!stores.live.values().some((organization) => organization.file === file)) return;
    stores.markFileRemoved(file);
    this.retry(DEPENDENT_REASONS);
    log.warn({ file }, 'snapshot file is gone; its organizations stay live until a restart');
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
