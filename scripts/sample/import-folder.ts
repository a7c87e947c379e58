import { appendFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** The kinds of record of an import folder, each in a file `KIND.ndjson`. */
const KINDS = ['organizations', 'events', 'sessions', 'tickets', 'orders', 'offers'] as const;
type Kind = (typeof KINDS)[number];

/** Number of characters collected for a write. */
const CHUNK = 1 << 20;
const PARTIAL = '.partial';

/** The output folder contains files that are not part of an import folder; the message names them. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

/** Writes an import folder. Its files, `KIND.ndjson.partial` until then, appear when all of them are complete. */
export class ImportFolder {
  /** Number of lines written so far, by kind. */
  readonly counts = { organizations: 0, events: 0, sessions: 0, tickets: 0, orders: 0, offers: 0 };
  readonly #path: string;
  readonly #pending = { organizations: '', events: '', sessions: '', tickets: '', orders: '', offers: '' };
  #pendingLength = 0;

  private constructor(path: string) {
    this.#path = path;
  }

  /**
   * Begins in a folder, which may be new, empty, or an earlier import folder to be replaced.
   * @throws FolderInUse
   */
  static async begin(path: string): Promise<ImportFolder> {
    await mkdir(path, { recursive: true });
    const known = new Set(KINDS.map(fileName).flatMap((name) => [name, name + PARTIAL]));
    const foreign = (await readdir(path)).filter((name) => !known.has(name)).sort();
    if (foreign.length > 0) {
      throw new FolderInUse(
        `${path} contains other files (${foreign.slice(0, 3).join(', ')}${foreign.length > 3 ? ', …' : ''}); ` +
          'the output must be a new or empty folder, or an earlier import folder',
      );
    }
    const folder = new ImportFolder(path);
    await folder.discard();
    await folder.flush();
    return folder;
  }

  write(kind: Kind, record: object): void {
    const line = `${JSON.stringify(record)}\n`;
    this.counts[kind]++;
    this.#pending[kind] += line;
    this.#pendingLength += line.length;
  }

  /** Whether the folder should be flushed before more is written. */
  get isFull(): boolean {
    return this.#pendingLength >= CHUNK;
  }

  async flush(): Promise<void> {
    for (const kind of KINDS) {
      await appendFile(this.#pathOf(kind) + PARTIAL, this.#pending[kind]);
      this.#pending[kind] = '';
    }
    this.#pendingLength = 0;
  }

  /** Completes the files and gives them their final names. */
  async finish(): Promise<void> {
    await this.flush();
    for (const kind of KINDS) await rename(this.#pathOf(kind) + PARTIAL, this.#pathOf(kind));
  }

  /** Removes the unfinished files. */
  async discard(): Promise<void> {
    for (const kind of KINDS) await rm(this.#pathOf(kind) + PARTIAL, { force: true });
  }

  #pathOf(kind: Kind): string {
    return join(this.#path, fileName(kind));
  }
}

function fileName(kind: Kind): string {
  return `${kind}.ndjson`;
}
