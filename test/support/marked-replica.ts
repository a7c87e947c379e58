import { mkdirSync, renameSync } from 'node:fs';
import type { Agent } from 'node:http';
import { expect } from 'chai';
import { PREVIEW, VERSION_HEADER } from '../../src/contract/releases.ts';
import { alteredCopy, asSnapshot, producedAtOf, snapshotIdOf } from './altered-snapshot.ts';
import { COLLECTIONS } from './digests.ts';
import { buildFile, type Import, type ImportRecord } from './import-folder.ts';
import { type Answer, type Environment, newCredential, ReplicaUnderTest } from './replica-under-test.ts';
import { smallImport } from './small-import.ts';
import { folderForAll, folderForEach, type InFolder } from './temporary-folder.ts';

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
  const texts = `replace(record, '${MARK}', 'mark-${digits}')`;
  const marked = `replace(${texts}, '"durationMinutes":${MARKED_MINUTES}', '"durationMinutes":1${digits}')`;
  return COLLECTIONS.map((list) => `UPDATE ${list} SET record = ${marked};`).join('\n');
}

/** Returns the marks in a body, one for each record. */
export function marksIn(body: string): number[] {
  return Array.from(body.matchAll(MARKS), ([, digits]) => Number(digits));
}

/** Returns the number of the snapshot of a response. Expects its headers and all its records to be from that one. */
export function numberOf({ status, headers, text }: Answer, what = ''): number {
  expect(status, `${what}: ${text.slice(0, 300)}`).to.equal(200);
  const snapshots = [...new Set(marksIn(text))];
  expect(snapshots, `${what}: snapshots`).to.have.length(1);
  const [n] = snapshots;
  expect(headers, what).to.include({
    'service-snapshot-id': snapshotIdOf(n),
    'service-data-as-of': producedAtOf(n),
  });
  return n;
}

/** A replica over the successive snapshots of a file. The `n`th one has `n` as the mark of every record. */
export class MarkedReplica {
  readonly inFolder: InFolder;
  /** The credential of a key of `north`. */
  credential = '';
  /** Number of the latest snapshot that was made. */
  latest = 0;
  readonly #inSource: InFolder;
  #replica: ReplicaUnderTest | undefined;

  constructor(inFolder: InFolder, inSource: InFolder) {
    this.inFolder = inFolder;
    this.#inSource = inSource;
  }

  /** Places the first snapshot, and creates a key. */
  prepare(): void {
    this.latest = 0;
    this.place();
    this.credential = newCredential(this.inFolder, 'north');
  }

  /** Starts a process, in place of the previous one, and waits until snapshot and keys are live. */
  async start(environment: Environment = {}): Promise<ReplicaUnderTest> {
    await this.end();
    return (this.#replica = await ReplicaUnderTest.startReady(this.inFolder, environment));
  }

  async end(): Promise<void> {
    this.#replica?.signal('SIGKILL');
    await this.#replica?.ended;
  }

  /** The process that was started last. */
  get process(): ReplicaUnderTest {
    return this.#replica ?? expect.fail('not started');
  }

  /** Makes a snapshot, by default the next one. Returns its path, outside the snapshot folder. */
  draft(n = ++this.latest): string {
    return alteredCopy(this.#inSource('built'), this.inFolder(`draft-${n}`), asSnapshot(n), markedAs(n));
  }

  /** Renames a snapshot into the snapshot folder. */
  place(draft = this.draft()): void {
    mkdirSync(this.inFolder('snapshots'), { recursive: true });
    renameSync(draft, this.inFolder('snapshots/north.sqlite'));
  }

  /** Places the next snapshot, and waits until it is live. Returns its number. */
  async publish(): Promise<number> {
    this.place();
    await this.process.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(this.latest) });
    return this.latest;
  }

  ask(path: string, credential = this.credential, agent?: Agent): Promise<Answer> {
    return this.process.request(path, credential, { [VERSION_HEADER]: PREVIEW }, agent);
  }
}

/** Declares a folder with the first snapshot and a key for all tests of the calling suite, and ends their replica. */
export function markedReplicaForAll(files: Import = MARKED_IMPORT): MarkedReplica {
  return markedReplica(folderForAll(), before, after, files);
}

/** Declares a folder with the first snapshot and a key for each test of the calling suite, and ends its replica. */
export function markedReplicaForEach(files: Import = MARKED_IMPORT): MarkedReplica {
  return markedReplica(folderForEach(), beforeEach, afterEach, files);
}

function markedReplica(
  inFolder: InFolder,
  start: (hook: () => void) => void,
  end: (hook: () => Promise<void>) => void,
  files: Import,
): MarkedReplica {
  const inSource = folderForAll();
  const replica = new MarkedReplica(inFolder, inSource);
  before(() => buildFile(files, inSource('built')));
  start(() => {
    replica.prepare();
  });
  end(() => replica.end());
  return replica;
}
