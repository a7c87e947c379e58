import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '../../src/snapshot/format/manifest.ts';
import {
  DEPENDENT_REASONS,
  type RefusalReason,
  RefusedSnapshot,
  TRANSIENT_REASONS,
} from '../../src/snapshot/format/refused-snapshot.ts';
import { isSnapshotName } from '../../src/snapshot/format/snapshot-file.ts';
import { inspectSnapshot } from '../../src/snapshot/format/open-snapshot.ts';
import { isSystemError, Refused } from '../run-command.ts';
import { warn } from '../terminal/print.ts';

const FILE = 'demo.sqlite';
/** Marks a folder in which the demo created its snapshot. The snapshot watcher ignores hidden files. */
const MARK = '.created-by-demo';
const MARK_TEXT = `\`npm run demo\` created ${FILE} in this folder, and replaces it if it cannot be read.\n`;

/** The refusals that do not concern the content of the file itself. */
const OTHER_REASONS: readonly RefusalReason[] = [
  ...TRANSIENT_REASONS,
  ...DEPENDENT_REASONS,
  ...(['not-a-file', 'outside-folder', 'older', 'organization-gone', 'shrunk'] as const),
];

/**
 * The snapshot of the demo, `demo.sqlite` in the snapshot folder.
 * The demo replaces it only where it created it itself: the variable may name a folder of real data.
 */
export class DemoSample {
  readonly file = FILE;
  readonly #folder: string;
  readonly #path: string;
  readonly #isOwn: boolean;
  readonly #makeSnapshot: (path: string) => Promise<void>;

  /**
   * @param defaultFolder the folder that belongs to the demo
   * @param makeSnapshot builds a snapshot of sample data, in place of an earlier file
   */
  constructor(folder: string, defaultFolder: string, makeSnapshot: (path: string) => Promise<void>) {
    this.#folder = folder;
    this.#path = join(folder, FILE);
    this.#makeSnapshot = makeSnapshot;
    this.#isOwn = folder === defaultFolder || existsSync(join(folder, MARK));
  }

  /** Returns the manifest of the snapshot, which is created if it is absent or cannot be read. */
  async prepare(): Promise<Manifest> {
    if (!existsSync(this.#path)) return this.#makeFirst();
    try {
      return inspectSnapshot(this.#path);
    } catch (error) {
      if (error instanceof RefusedSnapshot) return this.replace(error);
      throw error;
    }
  }

  /** Replaces the snapshot after its refusal. Returns its manifest. */
  async replace({ reason, message }: Pick<RefusedSnapshot, 'reason' | 'message'>): Promise<Manifest> {
    if (OTHER_REASONS.includes(reason)) throw new Refused(`${this.#path}: ${message}`);
    if (!this.#isOwn) {
      throw new Refused(
        `${this.#path}: ${message}; the demo did not create this file, so it does not replace it: ` +
          'unset SNAPSHOT_DIR, or set it to a new folder',
      );
    }
    warn(`The demo replaces ${this.#path}: ${message}.`);
    // A journal would make the new file unreadable too.
    for (const ending of ['-journal', '-wal', '-shm']) rmSync(this.#path + ending, { force: true });
    return this.#make();
  }

  async #makeFirst(): Promise<Manifest> {
    const others = existsSync(this.#folder) ? readdirSync(this.#folder).filter(isSnapshotName) : [];
    if (others.length > 0 && !this.#isOwn) {
      throw new Refused(
        `SNAPSHOT_DIR is ${this.#folder}, which holds other snapshots (${others[0]}); ` +
          'the demo does not add its own: unset SNAPSHOT_DIR, or set it to a new folder',
      );
    }
    return this.#make();
  }

  async #make(): Promise<Manifest> {
    try {
      await this.#makeSnapshot(this.#path);
      writeFileSync(join(this.#folder, MARK), MARK_TEXT);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      throw new Refused(`SNAPSHOT_DIR is ${this.#folder}: the demo cannot write there: ${error.message}`);
    }
    return inspectSnapshot(this.#path);
  }
}
