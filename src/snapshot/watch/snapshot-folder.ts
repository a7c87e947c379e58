import { type FSWatcher, watch } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { changesOf } from '../format/open-snapshot.ts';
import { asRefusal, isSnapshotName } from '../format/snapshot-file.ts';

/** A file counts as complete once nothing was written to it for this long. The loader refuses incomplete files. */
const SETTLE_MS = 250;

export interface SeenFile {
  /** Changes with the content of the file, and of its changes. */
  readonly version: string;
  /** Changes with the file alone. */
  readonly whole: string;
  /** Time since which nothing was written to the file, as far as is known: milliseconds of the monotonic clock. */
  readonly since: number;
}

/** Lists the snapshots of a folder with their versions, and listens for changes. */
export class SnapshotFolder {
  readonly #settleMs: number;
  readonly #path: string;
  /** The last listing; undefined before the first. */
  #seen: ReadonlyMap<string, SeenFile> | undefined;
  #watcher: FSWatcher | undefined;

  constructor(path: string, settleMs = SETTLE_MS) {
    this.#path = path;
    this.#settleMs = settleMs;
  }

  /** Returns the milliseconds until a file counts as complete; at most 0 if it does. */
  restOf({ since }: SeenFile): number {
    return this.#settleMs - (performance.now() - since);
  }

  /** Lists the whole files in name order. */
  async list(): Promise<ReadonlyMap<string, SeenFile>> {
    const names = await readdir(this.#path);
    // One time for all files, so that files written together settle in order.
    const [now, wallClock] = [performance.now(), Date.now()];
    const files = new Map<string, SeenFile>();
    for (const file of names.filter(isSnapshotName).sort()) {
      const status = await statusOf(join(this.#path, file));
      if (status === undefined) continue;
      const changes = changesOf(file);
      const changed = names.includes(changes) ? await statusOf(join(this.#path, changes)) : undefined;
      // A journal of a file is a reason to refuse it, so its removal must be a change.
      const journals = names.filter((name) => name.startsWith(`${file}-`) || name.startsWith(`${changes}-`));
      const whole = status.version;
      const version = [whole, changed?.version ?? '', ...journals].join();
      // Changes are renamed into place, and need not settle. A write sets both time stamps, a rename only that of the change. So a file that was renamed into place some time
      // after its last write need not wait. The first listing also trusts the wall clock, which may change later.
      const { modifiedAt, changedAt } = status;
      const quietMs = (this.#seen === undefined ? wallClock : changedAt) - modifiedAt;
      const last = this.#seen?.get(file);
      const since = last?.whole === whole ? last.since : now - Math.max(0, quietMs);
      files.set(file, { version, whole, since });
    }
    this.#seen = files;
    return files;
  }

  /**
   * Resolves the links in the path of a file, so that the checked file is read.
   * @throws RefusedSnapshot when it leads out of the folder, or cannot be resolved
   */
  async pathOf(file: string): Promise<string> {
    try {
      const [folder, path] = await Promise.all([realpath(this.#path), realpath(join(this.#path, file))]);
      if (path.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return path;
      const message = `it is a link to ${path}, outside the snapshot folder; publish the file itself`;
      throw new RefusedSnapshot('outside-folder', message);
    } catch (error) {
      throw asRefusal(error);
    }
  }

  /**
   * Calls `onChange` when the system reports a change in the folder.
   * Call before each listing, since another folder may have replaced the previous one. Where the system reports no
   * changes, polling alone finds them.
   * @param signal ends the listening
   */
  listen(onChange: () => void, signal: AbortSignal): void {
    this.#watcher?.close();
    try {
      const watcher = watch(this.#path, { persistent: false, signal }, (_event, name) => {
        // Each write to a hidden copy in progress is reported.
        if (name?.startsWith('.') !== true) onChange();
      });
      this.#watcher = watcher.on('error', () => {
        watcher.close();
      });
    } catch {
      // There is no folder, the limit of watches is reached, or the file system does not support them.
      this.#watcher = undefined;
    }
  }
}

/**
 * Reads the version of a file, and its time stamps in milliseconds: of its content, and of its content, name or mode.
 * Returns undefined if it does not exist. The loader refuses an unreadable status.
 */
async function statusOf(path: string) {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs, mtimeMs, ctimeMs } = await stat(path, { bigint: true });
    return {
      version: `${dev}/${ino}/${size}/${mtimeNs}/${ctimeNs}`,
      modifiedAt: Number(mtimeMs),
      changedAt: Number(ctimeMs),
    };
  } catch (error) {
    // A link to a missing file is present.
    const isPresent =
      !(error instanceof Error && 'code' in error && error.code === 'ENOENT') ||
      (await lstat(path).catch(() => undefined));
    return isPresent ? { version: String(error), modifiedAt: 0, changedAt: 0 } : undefined;
  }
}
