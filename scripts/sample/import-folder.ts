import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
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

/** Writes an import folder. Its files appear when all of them are complete. */
export class ImportFolder {
  /** Number of lines written so far, by kind. */
  readonly counts = { organizations: 0, events: 0, sessions: 0, tickets: 0, orders: 0, offers: 0 };
  readonly #files: Readonly<Record<Kind, LineFile>>;

  private constructor(files: Record<Kind, LineFile>) {
    this.#files = files;
  }

  /**
   * Opens the files of a folder, which may be new, empty, or an earlier import folder to be replaced.
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
    const create = (kind: Kind) => LineFile.create(join(path, fileName(kind)));
    return new ImportFolder({
      organizations: await create('organizations'),
      events: await create('events'),
      sessions: await create('sessions'),
      tickets: await create('tickets'),
      orders: await create('orders'),
      offers: await create('offers'),
    });
  }

  write(kind: Kind, record: object): void {
    this.counts[kind]++;
    this.#files[kind].write(record);
  }

  /** Whether a file should be flushed before more is written. */
  get full(): boolean {
    return KINDS.some((kind) => this.#files[kind].full);
  }

  async flush(): Promise<void> {
    for (const kind of KINDS) await this.#files[kind].flush();
  }

  /** Completes the files and gives them their final names. */
  async finish(): Promise<void> {
    for (const kind of KINDS) await this.#files[kind].complete();
    for (const kind of KINDS) await this.#files[kind].publish();
  }

  /** Removes the unfinished files. */
  async discard(): Promise<void> {
    for (const kind of KINDS) await this.#files[kind].discard();
  }
}

function fileName(kind: Kind): string {
  return `${kind}.ndjson`;
}

/** A file of JSON lines, named `PATH.partial` until it is published. */
class LineFile {
  readonly #path: string;
  readonly #handle: FileHandle;
  #pending = '';

  private constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.#handle = handle;
  }

  static async create(path: string): Promise<LineFile> {
    return new LineFile(path, await open(path + PARTIAL, 'w'));
  }

  get full(): boolean {
    return this.#pending.length >= CHUNK;
  }

  write(record: object): void {
    this.#pending += JSON.stringify(record) + '\n';
  }

  async flush(): Promise<void> {
    const text = this.#pending;
    this.#pending = '';
    await this.#handle.writeFile(text);
  }

  async complete(): Promise<void> {
    await this.flush();
    await this.#handle.close();
  }

  async publish(): Promise<void> {
    await rename(this.#path + PARTIAL, this.#path);
  }

  /** Removes the file, complete or not. */
  async discard(): Promise<void> {
    await this.#handle.close();
    await rm(this.#path + PARTIAL, { force: true });
  }
}
