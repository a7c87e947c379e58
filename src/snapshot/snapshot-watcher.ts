import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { SnapshotImage } from '../store/organization-image.ts';
import { OrganizationConflict } from '../store/store-registry.ts';
import type { StoreRegistry } from '../store/store-registry.ts';
import { CorruptSnapshot } from './corrupt-snapshot.ts';

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
      const status = await stat(join(this.#folder, file), { bigint: true }).catch((error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      });
      if (status !== undefined)
        files.set(file, `${status.ino}/${status.size}/${status.mtimeNs}/${status.ctimeNs}`);
    }
    return files;
  }

  async #take(file: string): Promise<void> {
    const started = performance.now();
    try {
      const image = await this.#load(join(this.#folder, file));
      this.#stores.swap(file, image);
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
      if (!(error instanceof CorruptSnapshot || error instanceof OrganizationConflict)) throw error;
      this.#log.error({ file, reason: error.message }, 'snapshot refused');
    }
  }

  #forget(file: string): void {
    this.#seen.delete(file);
    this.#stores.release(file);
    // Whatever was refused for its sake is worth another look.
    for (const [other] of this.#seen) if (!this.#stores.isLive(other)) this.#seen.delete(other);
    this.#log.warn({ file }, 'snapshot file is gone; what it held goes on serving');
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
