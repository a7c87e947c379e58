import { type FSWatcher, watch } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { SnapshotImage } from '../../store/organization-image.ts';
import type { StoreRegistry } from '../../store/registry/store-registry.ts';
import { loadedCounts, type Manifest } from '../format/manifest.ts';
import { type RefusalReason, RefusedSnapshot } from '../format/refused-snapshot.ts';
import { asRefusal, isSnapshotName } from '../format/snapshot-file.ts';
import type { LoadOptions } from '../load/load-snapshot.ts';
import type { LoadHistory } from './load-history.ts';

/** A file that has not changed for so long is taken for whole. What is not is found out when it is read. */
const SETTLED_MS = 250;

/** Refused for what else is live: worth another try once that changes. */
const FOR_THE_SAKE_OF_OTHERS: readonly RefusalReason[] = ['conflict', 'memory'];

export interface WatcherDependencies {
  readonly folder: string;
  readonly stores: StoreRegistry;
  readonly history: LoadHistory;
  readonly load: (path: string, options: Pick<LoadOptions, 'admit'>) => Promise<SnapshotImage>;
  /** Whether what a file declares may go live; throws RefusedSnapshot when it may not. */
  readonly admit: (file: string, manifest: Manifest) => void;
  /** Puts what was loaded in the place of what its file held before; done when all requests are answered from it. */
  readonly goLive: (file: string, image: SnapshotImage) => Promise<void>;
  readonly log: Logger;
  /** The time without a change after which a file is taken to be whole, in milliseconds. */
  readonly settledMs?: number;
}

/** A file as it was seen. */
interface Sight {
  /** Changes when the content of the file does. */
  readonly version: string;
  /** Since when it is known to be like this: milliseconds of the monotonic clock. */
  readonly since: number;
}

/** Brings the snapshot files of a folder into the registry, one at a time, and again when they change. */
export class SnapshotWatcher {
  readonly #dependencies: WatcherDependencies;
  readonly #settledMs: number;
  /** What each file was when it was last loaded or refused: a refused file is not tried again until it changes. */
  readonly #taken = new Map<string, string>();
  /** What each file was at the last look; undefined until there was one. */
  #sights: ReadonlyMap<string, Sight> | undefined;
  readonly #refusedForOthers = new Set<string>();
  readonly #stop = new AbortController();
  #polling: Promise<void> | undefined;
  #complaint: string | undefined;
  #hints: { readonly of: string; readonly watcher: FSWatcher } | undefined;

  constructor(dependencies: WatcherDependencies) {
    this.#dependencies = dependencies;
    this.#settledMs = dependencies.settledMs ?? SETTLED_MS;
  }

  /**
   * Looks, and loads what changed, once that has settled. While it is under way, another call is the same.
   * From the first one on, it also happens at once when the system tells of a change in the folder. Never rejected.
   */
  poll(): Promise<void> {
    this.#polling ??= this.#look()
      .then(
        () => {
          this.#complaint = undefined;
        },
        (error: unknown) => {
          this.#complain(error instanceof Error ? error.message : String(error));
        },
      )
      .finally(() => {
        this.#polling = undefined;
      });
    return this.#polling;
  }

  /** What keeps it from looking at the folder; undefined when nothing does. */
  get complaint(): string | undefined {
    return this.#complaint;
  }

  /** Says what keeps it from looking, once. */
  #complain(reason: string): void {
    if (reason === this.#complaint) return;
    this.#complaint = reason;
    this.#dependencies.log.error({ reason }, 'the snapshot folder cannot be looked at; it is tried again');
  }

  /** Looks no more. A load under way goes on, and what it brings is not taken. */
  stop(): void {
    this.#stop.abort();
    this.#hints?.watcher.close();
    this.#hints = undefined;
  }

  #isStopped(): boolean {
    return this.#stop.signal.aborted;
  }

  async #look(): Promise<void> {
    while (!this.#isStopped()) {
      await this.#listenForHints();
      const before = [...(this.#sights?.keys() ?? [])];
      const sights = await this.#files();
      this.#sights = sights;
      // A file that is gone goes on serving, but its organizations may now come from another.
      for (const file of before) if (!sights.has(file)) this.#forget(file);
      const changed = [...sights].filter(([file, { version }]) => this.#taken.get(file) !== version);
      const settled = changed.filter(([, sight]) => this.#isSettled(sight));
      if (changed.length === 0) return;
      if (settled.length === 0) await this.#pause();
      for (const [file, { version }] of settled) {
        if (this.#isStopped()) return;
        this.#taken.set(file, version);
        await this.#take(file);
      }
    }
  }

  #isSettled({ since }: Sight): boolean {
    return performance.now() - since >= this.#settledMs;
  }

  async #pause(): Promise<void> {
    // It ends early, by an error, only when there is nothing to wait for any more.
    await setTimeout(this.#settledMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }

  /** The snapshot files by name. */
  async #files(): Promise<ReadonlyMap<string, Sight>> {
    const { folder } = this.#dependencies;
    const names = await readdir(folder);
    const files = new Map<string, Sight>();
    for (const file of names.filter(isSnapshotName).sort()) {
      const seen = await statusOf(join(folder, file));
      if (seen === undefined) continue;
      // A journal beside it is a reason to refuse it, and so its end is a reason to try again.
      const beside = names.filter((name) => name.startsWith(`${file}-`));
      const version = [seen.version, ...beside].join();
      files.set(file, { version, since: this.#since(file, version, seen.changedAt) });
    }
    return files;
  }

  #since(file: string, version: string, changedAt: number): number {
    const last = this.#sights?.get(file);
    if (last?.version === version) return last.since;
    // At the start its time stamp will do, so that nobody waits. Later on it will not: the wall clock may be set.
    const isOld = this.#sights === undefined && Date.now() - changedAt > this.#settledMs;
    return isOld ? -Infinity : performance.now();
  }

  async #take(file: string): Promise<void> {
    const { folder, history, load, admit, goLive, log } = this.#dependencies;
    const startedAt = new Date().toISOString();
    const started = performance.now();
    const durationMs = () => Math.round(performance.now() - started);
    history.begin({ file, startedAt });
    try {
      const path = await pathWithin(folder, file);
      const image = await load(path, {
        admit: (manifest) => {
          admit(file, manifest);
        },
      });
      if (this.#isStopped()) return;
      await goLive(file, image);
      this.#retryRefusedForOthers();
      const { snapshotId, producedAt } = image;
      const rows = image.organizations
        .flatMap((one) => Object.values(loadedCounts(one)))
        .reduce((sum, count) => sum + count, 0);
      const told = { file, snapshotId, producedAt, organizations: image.organizations.length, rows };
      history.add({ ...told, outcome: 'live', startedAt, durationMs: durationMs() });
      log.info({ ...told, durationMs: durationMs() }, 'snapshot live');
    } catch (error) {
      const { reason, message } = asLoadRefusal(error);
      if (FOR_THE_SAKE_OF_OTHERS.includes(reason)) this.#refusedForOthers.add(file);
      history.add({ file, outcome: 'refused', reason, detail: message, startedAt, durationMs: durationMs() });
      log.error({ file, reason, detail: message }, 'snapshot refused');
    } finally {
      history.end();
    }
  }

  #forget(file: string): void {
    const { stores, history, log } = this.#dependencies;
    this.#taken.delete(file);
    this.#refusedForOthers.delete(file);
    history.forget(file);
    if (!stores.live.values().some((organization) => organization.file === file)) return;
    stores.release(file);
    this.#retryRefusedForOthers();
    log.warn({ file }, 'snapshot file is gone; what it held goes on serving');
  }

  #retryRefusedForOthers(): void {
    for (const file of this.#refusedForOthers) this.#taken.delete(file);
    this.#refusedForOthers.clear();
  }

  /** Lets the system tell of changes. Where it cannot, or the folder is another one by now, polling does it all. */
  async #listenForHints(): Promise<void> {
    const { folder } = this.#dependencies;
    const of = await stat(folder, { bigint: true }).then(
      // A new folder may have the number of the one before it.
      ({ dev, ino, birthtimeNs }) => `${dev}/${ino}/${birthtimeNs}`,
      () => undefined,
    );
    if (of === this.#hints?.of || this.#isStopped()) return;
    this.#hints?.watcher.close();
    this.#hints = undefined;
    if (of === undefined) return;
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        // A large file that is copied to a hidden one tells of each write.
        if (name?.startsWith('.') !== true) void this.poll();
      });
      watcher.on('error', () => {
        watcher.close();
      });
      this.#hints = { of, watcher };
    } catch {
      // The system has no watches left, or none for this kind of folder.
    }
  }
}

/** Whatever goes wrong with one file is that file's: the others are looked at as ever. */
function asLoadRefusal(error: unknown): RefusedSnapshot {
  if (error instanceof RefusedSnapshot) return error;
  return new RefusedSnapshot('loader-failed', error instanceof Error ? error.message : String(error));
}

interface FileStatus {
  readonly version: string;
  /** By its time stamps: milliseconds since the epoch. */
  readonly changedAt: number;
}

/** Undefined when the file is not there. What cannot be looked at is for the loader to refuse. */
async function statusOf(path: string): Promise<FileStatus | undefined> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs, mtimeMs, ctimeMs } = await stat(path, { bigint: true });
    return {
      version: `${dev}/${ino}/${size}/${mtimeNs}/${ctimeNs}`,
      changedAt: Number(mtimeMs > ctimeMs ? mtimeMs : ctimeMs),
    };
  } catch (error) {
    // A link to what is not there is there.
    const isGone = isMissing(error) && (await lstat(path).catch(() => undefined)) === undefined;
    return isGone ? undefined : { version: String(error), changedAt: 0 };
  }
}

/**
 * The path of a file with its links followed, so that what is judged is what is read.
 * @throws RefusedSnapshot when it is not within the folder, or cannot be found out
 */
async function pathWithin(folder: string, file: string): Promise<string> {
  try {
    const [within, path] = await Promise.all([realpath(folder), realpath(join(folder, file))]);
    if (path.startsWith(within.endsWith(sep) ? within : within + sep)) return path;
    throw new RefusedSnapshot(
      'outside-folder',
      `it is a link to ${path}, outside the snapshot folder; publish the file itself`,
    );
  } catch (error) {
    throw asRefusal(error);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
