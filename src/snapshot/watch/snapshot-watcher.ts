import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { SnapshotImage } from '../../store/organization-image.ts';
import type { StoreRegistry } from '../../store/registry/store-registry.ts';
import { loadedCounts, type Manifest } from '../format/manifest.ts';
import { type RefusalReason, RefusedSnapshot } from '../format/refused-snapshot.ts';
import type { LoadOptions } from '../load/load-snapshot.ts';
import type { LoadHistory } from './load-history.ts';
import { SnapshotFolder } from './snapshot-folder.ts';

/** Refusals that depend on the other live snapshots. The watcher tries the file again when those change. */
const DEPENDENT_REASONS: readonly RefusalReason[] = ['conflict', 'memory'];

export interface WatcherDependencies {
  readonly folder: string;
  readonly stores: StoreRegistry;
  readonly history: LoadHistory;
  readonly load: (path: string, options: Pick<LoadOptions, 'admit'>) => Promise<SnapshotImage>;
  /** Throws RefusedSnapshot when the declared content of a file may not go live. */
  readonly admit: (file: string, manifest: Manifest) => void;
  /**
   * Replaces the organizations of the file with those of the image. Fulfilled when all workers show it; rejects when
   * another file serves one of them.
   */
  readonly goLive: (file: string, image: SnapshotImage) => Promise<void>;
  readonly log: Logger;
  readonly settleMs?: number;
}

/** Loads the snapshot files of a folder into the registry, one at a time, and again when they change. */
export class SnapshotWatcher {
  readonly #dependencies: WatcherDependencies;
  readonly #folder: SnapshotFolder;
  /** The version of each file that was last loaded or refused; it is not tried again until it changes. */
  readonly #tried = new Map<string, string>();
  readonly #refusedForOthers = new Set<string>();
  readonly #stop = new AbortController();
  #polling: Promise<void> | undefined;
  #complaint: string | undefined;

  constructor(dependencies: WatcherDependencies) {
    this.#dependencies = dependencies;
    this.#folder = new SnapshotFolder(dependencies.folder, dependencies.settleMs);
  }

  /**
   * Loads the files that changed, once they have settled. Never rejects.
   * Concurrent calls share one poll. After the first, a change in the folder also starts a poll.
   */
  poll(): Promise<void> {
    this.#polling ??= this.#poll().finally(() => {
      this.#polling = undefined;
    });
    return this.#polling;
  }

  async #poll(): Promise<void> {
    try {
      await this.#loadChanges();
      this.#complaint = undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason === this.#complaint) return;
      this.#complaint = reason;
      this.#dependencies.log.error({ reason }, 'the snapshot folder cannot be read; retrying');
    }
  }

  /** The reason why the folder cannot be read, or undefined. Each reason is logged once. */
  get complaint(): string | undefined {
    return this.#complaint;
  }

  /** Stops polling. A load in progress continues, but its snapshot does not go live. */
  stop(): void {
    this.#stop.abort();
  }

  #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #loadChanges(): Promise<void> {
    while (!this.#isStopped()) {
      await this.#folder.listen(() => void this.poll(), this.#stop.signal);
      const { files, removed } = await this.#folder.list();
      removed.forEach((file) => {
        this.#forget(file);
      });
      const changed = [...files].filter(([file, { version }]) => this.#tried.get(file) !== version);
      const settled = changed.filter(([, seen]) => this.#folder.isSettled(seen));
      if (changed.length === 0) return;
      if (settled.length === 0) await this.#pause();
      for (const [file, { version }] of settled) {
        if (this.#isStopped()) return;
        this.#tried.set(file, version);
        await this.#load(file);
      }
    }
  }

  async #pause(): Promise<void> {
    // Rejects only when the watcher is stopped.
    await setTimeout(this.#folder.settleMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }

  /** Loads a file and makes it live. Any error is a refusal of this file, so that the others still load. */
  async #load(file: string): Promise<void> {
    const { history, load, admit, goLive, log } = this.#dependencies;
    const startedAt = new Date().toISOString();
    const started = performance.now();
    const durationMs = () => Math.round(performance.now() - started);
    history.begin({ file, startedAt });
    try {
      const image = await load(await this.#folder.pathOf(file), {
        admit: (manifest) => {
          admit(file, manifest);
        },
      });
      if (this.#isStopped()) return;
      await goLive(file, image);
      this.#retryRefusedForOthers();
      const { snapshotId, producedAt } = image;
      const counts = image.organizations.flatMap((one) => Object.values(loadedCounts(one)));
      const rows = counts.reduce((sum, count) => sum + count, 0);
      const facts = { file, snapshotId, producedAt, organizations: image.organizations.length, rows };
      history.add({ ...facts, outcome: 'live', startedAt, durationMs: durationMs() });
      log.info({ ...facts, durationMs: durationMs() }, 'snapshot live');
    } catch (error) {
      const { reason, message } = asLoadRefusal(error);
      if (DEPENDENT_REASONS.includes(reason)) this.#refusedForOthers.add(file);
      history.add({ file, outcome: 'refused', reason, detail: message, startedAt, durationMs: durationMs() });
      log.error({ file, reason, detail: message }, 'snapshot refused');
    } finally {
      history.end();
    }
  }

  /** Forgets a file that is gone. Its organizations stay live, but another file may now contain them. */
  #forget(file: string): void {
    const { stores, history, log } = this.#dependencies;
    this.#tried.delete(file);
    this.#refusedForOthers.delete(file);
    history.forget(file);
    if (!stores.live.values().some((organization) => organization.file === file)) return;
    stores.markFileRemoved(file);
    this.#retryRefusedForOthers();
    log.warn({ file }, 'snapshot file is gone; its organizations stay live');
  }

  #retryRefusedForOthers(): void {
    for (const file of this.#refusedForOthers) this.#tried.delete(file);
    this.#refusedForOthers.clear();
  }
}

function asLoadRefusal(error: unknown): RefusedSnapshot {
  if (error instanceof RefusedSnapshot) return error;
  return new RefusedSnapshot('loader-failed', error instanceof Error ? error.message : String(error));
}
