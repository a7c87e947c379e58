import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { SnapshotImage } from '../store/organization-image.ts';
import { OrganizationConflict } from '../store/store-registry.ts';
import type { StoreRegistry } from '../store/store-registry.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';

/** Files of other names in the folder are not ours: those that are being written, for one. */
const SNAPSHOT_NAME = /^[^.].*\.sqlite$/;

/** Brings the snapshot files of a folder into the registry, one at a time, and again when they change. */
export class SnapshotWatcher {
  readonly #folder: string;
  readonly #stores: StoreRegistry;
  readonly #load: (path: string) => Promise<SnapshotImage>;
  readonly #log: Logger;
  /** What each file was when it was last loaded or refused: a refused file is not tried again until it changes. */
  readonly #seen = new Map<string, string>();
  /** Those that were refused for the sake of another file: they are tried again when that changes. */
  readonly #inConflict = new Set<string>();
  #polling: Promise<void> | undefined;

  constructor(
    folder: string,
    stores: StoreRegistry,
    load: (path: string) => Promise<SnapshotImage>,
    log: Logger,
  ) {
    this.#folder = folder;
    this.#stores = stores;
    this.#load = load;
    this.#log = log;
  }

  /** Looks once, and loads what changed. While it is under way, another call is the same. */
  poll(): Promise<void> {
    this.#polling ??= this.#look().finally(() => {
      this.#polling = undefined;
    });
    return this.#polling;
  }

  async #look(): Promise<void> {
    const files = await this.#files();
    // A file that is gone goes on serving, but its organizations may now come from another.
    for (const file of this.#seen.keys()) if (!files.has(file)) this.#forget(file);
    for (const [file, version] of files) {
      if (this.#seen.get(file) === version) continue;
      this.#seen.set(file, version);
      await this.#take(file);
    }
  }

  /** The snapshot files by name, each with what changes when its content does. */
  async #files(): Promise<Map<string, string>> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
    const files = new Map<string, string>();
    for (const file of names.filter((name) => SNAPSHOT_NAME.test(name)).sort()) {
      const version = await versionOf(join(this.#folder, file));
      // A journal beside it is a reason to refuse it, and so its end is a reason to try again.
      const beside = names.filter((name) => name.startsWith(`${file}-`));
      if (version !== undefined) files.set(file, [version, ...beside].join());
    }
    return files;
  }

  async #take(file: string): Promise<void> {
    const started = performance.now();
    try {
      const image = await this.#load(join(this.#folder, file));
      this.#stores.swap(file, image);
      this.#retryConflicts();
      this.#log.info(
        {
          file,
          snapshotId: image.snapshotId,
          producedAt: image.producedAt,
          organizations: image.organizations.length,
          durationMs: Math.round(performance.now() - started),
        },
        'snapshot live',
      );
    } catch (error) {
      if (!(error instanceof RefusedSnapshot || error instanceof OrganizationConflict)) throw error;
      if (error instanceof OrganizationConflict) this.#inConflict.add(file);
      this.#log.error({ file, reason: error.message }, 'snapshot refused');
    }
  }

  #forget(file: string): void {
    this.#seen.delete(file);
    this.#inConflict.delete(file);
    if (!this.#stores.live.values().some((organization) => organization.file === file)) return;
    this.#stores.release(file);
    this.#retryConflicts();
    this.#log.warn({ file }, 'snapshot file is gone; what it held goes on serving');
  }

  #retryConflicts(): void {
    for (const file of this.#inConflict) this.#seen.delete(file);
    this.#inConflict.clear();
  }
}

/** What changes when a file does; undefined when it is not there. What cannot be looked at is for the loader to refuse. */
async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return `${ino}/${size}/${mtimeNs}/${ctimeNs}`;
  } catch (error) {
    return isMissing(error) ? undefined : String(error);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
