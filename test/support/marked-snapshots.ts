import { mkdirSync, renameSync } from 'node:fs';
import { alteredCopy, asSnapshot, snapshotIdOf } from './altered-snapshot.ts';
import { RUN_TABLES } from './digests.ts';
import { build, type Import, type ImportRecord, writeImport } from './import-folder.ts';
import type { ReplicaUnderTest } from './replica-under-test.ts';
import { smallImport } from './small-import.ts';
import type { InFolder } from './temporary-folder.ts';

/** The mark of built records, which SQL changes to that of a snapshot. Minutes carry the mark of sessions. */
export const MARK = 'mark-0000';
const MARKED_MINUTES = 10_000;
const MARKS = /"(?:[a-zA-Z]+":"mark-|durationMinutes":1)(\d{4})\b/g;

const NORTH = smallImport(['north']);
const withMark = (records: readonly ImportRecord[], mark: ImportRecord) =>
  records.map((record) => ({ ...record, ...mark }));

/** An import of `north`, all of whose records carry the mark. */
export const MARKED_IMPORT = {
  ...NORTH,
  events: withMark(NORTH.events, { title: MARK }),
  sessions: withMark(NORTH.sessions, { durationMinutes: MARKED_MINUTES }),
  tickets: withMark(NORTH.tickets, { offerName: MARK }),
  orders: withMark(NORTH.orders, { orderNumber: MARK }),
  offers: withMark(NORTH.offers, { name: MARK }),
};

/** Returns SQL that gives every record of a snapshot the mark `n`. */
function markedAs(n: number): string {
  const digits = String(n).padStart(4, '0');
  // Each text has the length of the one that it replaces, so the record lengths stay.
  const texts = `replace(records, '${MARK}', 'mark-${digits}')`;
  const marked = `replace(${texts}, '"durationMinutes":${MARKED_MINUTES}', '"durationMinutes":1${digits}')`;
  return Object.values(RUN_TABLES)
    .map((table) => `UPDATE ${table} SET records = ${marked};`)
    .join('\n');
}

/** Returns the marks in a body, one for each record. */
export function marksIn(body: string): number[] {
  return Array.from(body.matchAll(MARKS), ([, digits]) => Number(digits));
}

/** The successive snapshots of a test. The `n`th one has `n` as the mark of every record. */
export class MarkedSnapshots {
  readonly #inFolder: InFolder;

  private constructor(inFolder: InFolder) {
    this.#inFolder = inFolder;
  }

  static async build(inFolder: InFolder, files: Import = MARKED_IMPORT): Promise<MarkedSnapshots> {
    writeImport(inFolder('import'), files);
    await build(inFolder('import'), inFolder('built'));
    return new MarkedSnapshots(inFolder);
  }

  /** Makes the `n`th snapshot. Returns its path, outside the snapshot folder. */
  draft(n: number, inFolder = this.#inFolder): string {
    return alteredCopy(this.#inFolder('built'), inFolder(`draft-${n}`), asSnapshot(n), markedAs(n));
  }

  /** Renames the `n`th snapshot into the snapshot folder of a replica. */
  place(n: number, inFolder = this.#inFolder): void {
    mkdirSync(inFolder('snapshots'), { recursive: true });
    renameSync(this.draft(n, inFolder), inFolder('snapshots/north.sqlite'));
  }

  /** Places the `n`th snapshot, and waits until it is live. */
  async publish(replica: ReplicaUnderTest, n: number, inFolder = this.#inFolder): Promise<void> {
    this.place(n, inFolder);
    await replica.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(n) });
  }
}
