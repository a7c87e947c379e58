import { type FileHandle, open, rename, rm } from 'node:fs/promises';

/** Characters gathered before they go to the disk: few large writes are what makes it fast. */
const CHUNK = 1 << 20;
const PARTIAL = '.partial';

/** A file of one JSON record a line, under the name `PATH.partial` until it is complete. */
export class LineFile {
  readonly #path: string;
  readonly #handle: FileHandle;
  #pending = '';
  #lines = 0;

  private constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.#handle = handle;
  }

  static async create(path: string): Promise<LineFile> {
    return new LineFile(path, await open(path + PARTIAL, 'w'));
  }

  /** The names that a file at `name` may go by. */
  static namesOf(name: string): string[] {
    return [name, name + PARTIAL];
  }

  get lines(): number {
    return this.#lines;
  }

  /** Whether so much is pending that it should be drained before more is written. */
  get full(): boolean {
    return this.#pending.length >= CHUNK;
  }

  write(record: object): void {
    this.#pending += JSON.stringify(record) + '\n';
    this.#lines++;
  }

  async drain(): Promise<void> {
    const text = this.#pending;
    this.#pending = '';
    await this.#handle.writeFile(text);
  }

  /** Puts the last lines on the disk; the file keeps its partial name. */
  async complete(): Promise<void> {
    await this.drain();
    await this.#handle.close();
  }

  async reveal(): Promise<void> {
    await rename(this.#path + PARTIAL, this.#path);
  }

  /** Removes what was written, before or after it is complete. */
  async discard(): Promise<void> {
    await this.#handle.close();
    await rm(this.#path + PARTIAL, { force: true });
  }
}
