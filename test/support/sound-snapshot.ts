import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type RefusalReason, RefusedSnapshot } from '../../src/snapshot/format/refused-snapshot.ts';
import type { SnapshotImage } from '../../src/store/organization-image.ts';
import { alterRecords, type ListContent } from './alter-records.ts';
import { change } from './altered-snapshot.ts';
import { setDeletions } from './deletions.ts';
import { type Collection, reseal } from './digests.ts';
import { builtFrom } from './import-folder.ts';
import { readSnapshot } from './read-snapshot.ts';
import { thrownBy } from './refusal.ts';
import { SMALL_DELETIONS, SMALL_IMPORT } from './small-import.ts';
import { folderForAll } from './temporary-folder.ts';

/** A snapshot of the small import, with deletions, for the calling suite, and copies of it to change. */
export class SoundSnapshot {
  /** Returns the path of a file in the folder of the suite. */
  readonly file = folderForAll();
  #image: SnapshotImage | undefined;
  #copies = 0;

  constructor() {
    before(async () => {
      await builtFrom(this.file('import'), SMALL_IMPORT);
      setDeletions(this.path, { north: SMALL_DELETIONS, south: SMALL_DELETIONS });
      this.#image = readSnapshot(this.path);
    });
  }

  get path(): string {
    return this.file('import/snapshot.sqlite');
  }

  /** The statements of data/schema.sql. */
  readonly schema = readFileSync(new URL('../../data/schema.sql', import.meta.url), 'utf8');

  get image(): SnapshotImage {
    if (this.#image === undefined) throw new Error('the suite has not started');
    return this.#image;
  }

  /** Copies the snapshot into an empty folder. Returns the path. */
  copy(): string {
    const folder = this.file(`copy-${this.#copies++}`);
    mkdirSync(folder);
    const path = join(folder, 'a.sqlite');
    copyFileSync(this.path, path);
    return path;
  }

  /** Returns the path of a copy that SQL statements changed. */
  copyWith(...statements: readonly string[]): string {
    const path = this.copy();
    change(path, [statements.join(';\n')]);
    return path;
  }

  /** Returns the path of a copy with an altered list of the organization `north`, under matching digests. */
  altered(list: Collection, alter: (content: ListContent) => void): string {
    const path = this.copy();
    alterRecords(path, list, alter, 'north');
    reseal(path);
    return path;
  }

  /** Returns the path of a copy whose bytes `altered` replaced. */
  copyOf(altered: (bytes: Buffer) => Buffer): string {
    const path = this.copy();
    writeFileSync(path, altered(readFileSync(path)));
    return path;
  }
}

/** Expects the reader to refuse a file with a message, and for a reason if one is given. */
export function expectRefused(path: string, expected: RegExp | string, reason?: RefusalReason): void {
  const refusal = thrownBy(() => readSnapshot(path), RefusedSnapshot);
  if (typeof expected === 'string') expect(refusal.message).to.equal(expected);
  else expect(refusal.message).to.match(expected);
  if (reason !== undefined) expect(refusal.reason).to.equal(reason);
}
