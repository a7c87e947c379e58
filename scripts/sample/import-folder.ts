import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LineFile } from './line-file.ts';

/** The kinds of record of an import folder; each has its file, `KIND.ndjson`. */
const KINDS = ['organizations', 'events', 'sessions', 'tickets', 'orders', 'offers'] as const;
type Kind = (typeof KINDS)[number];

/** The output folder holds something that must not be overwritten; the message names it. */
export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
}

/** An import folder being written. Its files appear, all six, when everything in them is complete. */
export class ImportFolder {
  readonly #files: Record<Kind, LineFile>;

  private constructor(files: Record<Kind, LineFile>) {
    this.#files = files;
  }

  /**
   * Begins a folder at `path`, which may be new, empty, or an earlier one to be replaced.
   * @throws FolderInUse when it holds anything but the files of an import folder.
   */
  static async begin(path: string): Promise<ImportFolder> {
    await mkdir(path, { recursive: true });
    const ours = new Set(KINDS.flatMap((kind) => LineFile.namesOf(fileName(kind))));
    const foreign = (await readdir(path)).filter((name) => !ours.has(name)).sort();
    if (foreign.length > 0) {
      throw new FolderInUse(
        `${path} holds other files (${foreign.slice(0, 3).join(', ')}${foreign.length > 3 ? ', …' : ''}): ` +
          'name a new or empty folder, or one with nothing but an earlier import folder in it',
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
    this.#files[kind].write(record);
  }

  /** Whether so much has gathered that it should be drained before more is written. */
  get full(): boolean {
    return KINDS.some((kind) => this.#files[kind].full);
  }

  /** Sends to the disk what has gathered. */
  async drain(): Promise<void> {
    for (const kind of KINDS) await this.#files[kind].drain();
  }

  /** Lines written so far, by kind. */
  get counts(): Record<Kind, number> {
    const { organizations, events, sessions, tickets, orders, offers } = this.#files;
    return {
      organizations: organizations.lines,
      events: events.lines,
      sessions: sessions.lines,
      tickets: tickets.lines,
      orders: orders.lines,
      offers: offers.lines,
    };
  }

  async finish(): Promise<void> {
    for (const kind of KINDS) await this.#files[kind].complete();
    for (const kind of KINDS) await this.#files[kind].reveal();
  }

  async discard(): Promise<void> {
    for (const kind of KINDS) await this.#files[kind].discard();
  }
}

function fileName(kind: Kind): string {
  return `${kind}.ndjson`;
}
