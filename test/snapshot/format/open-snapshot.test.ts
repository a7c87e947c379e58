import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { Random } from '../../../scripts/sample/random.ts';
import { changesOf, inspectSnapshot } from '../../../src/snapshot/format/open-snapshot.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { change, snapshotIdOf } from '../../support/altered-snapshot.ts';
import { byDepth } from '../../support/depth.ts';
import { restamp } from '../../support/digests.ts';
import { buildFile } from '../../support/import-folder.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';
import { expectRefused } from '../../support/sound-snapshot.ts';
import { folderForAll } from '../../support/temporary-folder.ts';

describe('A snapshot of a whole file and its changes', () => {
  const inFolder = folderForAll();
  const [ticket, ...tickets] = SMALL_IMPORT.tickets;
  const deletions = [{ organizationId: 'north', collection: 'tickets', id: tickets[0]['ticketId'] }];
  const sound = () => inFolder('sound/a.sqlite');
  let ids: Readonly<Record<'whole' | 'changes', string>>;
  let copies = 0;

  before(async () => {
    mkdirSync(inFolder('sound'));
    const whole = await buildFile(SMALL_IMPORT, sound());
    const files = { tickets: [{ ...ticket, status: 'NEW' }], deletions };
    const options = { base: sound(), producedAt: new Date('2026-11-22T00:00:00Z'), permits: [] };
    ids = { whole: whole.snapshotId, changes: (await buildFile(files, sound(), options)).snapshotId };
  });

  /** Copies both files. Returns the path of the whole one. */
  function copy(): string {
    const path = inFolder(`${copies++}/a.sqlite`);
    mkdirSync(inFolder(String(copies - 1)));
    copyFileSync(sound(), path);
    copyFileSync(changesOf(sound()), changesOf(path));
    return path;
  }

  it('is named by the whole file, whatever its name', () => {
    expect(inspectSnapshot(sound()).snapshotId).to.equal(ids.changes);
    renameSync(copy(), inFolder('other'));
    copyFileSync(changesOf(sound()), inFolder('other.changes'));
    expect(inspectSnapshot(inFolder('other')).snapshotId).to.equal(ids.changes);
  });

  for (const [what, statement] of [
    ['of another epoch', `UPDATE snapshot SET epoch = '${snapshotIdOf(1)}'`],
    ['of another history', 'DELETE FROM ancestors'],
    ['since a later time', "UPDATE snapshot SET changes_since = '2026-11-21T12:00:00.001Z'"],
  ])
    it(`ignores changes ${what}`, () => {
      const path = copy();
      change(changesOf(path), [statement]);
      restamp(changesOf(path));
      expect(inspectSnapshot(path).snapshotId).to.equal(ids.whole);
      expect(readSnapshot(path, { isThorough: true }).snapshotId).to.equal(ids.whole);
    });

  it('ignores changes of a larger file that was replaced', async () => {
    const path = copy();
    const organizations = [{ organizationId: 'north' }];
    const { snapshotId } = await buildFile({ organizations }, inFolder('small.sqlite'));
    renameSync(inFolder('small.sqlite'), path);
    change(changesOf(path), ['UPDATE lists SET record_bytes = record_bytes + 100000000']);
    restamp(changesOf(path));
    expect(inspectSnapshot(path).snapshotId).to.equal(snapshotId);
  });

  it('refuses changes that cannot be read, and names their file', () => {
    const path = copy();
    const changes = changesOf(path);
    writeFileSync(changes, readFileSync(changes).subarray(0, -1));
    expectRefused(path, /^a\.changes: its header declares/, 'cut-short');
    copyFileSync(path, changes);
    expectRefused(
      path,
      /^a\.changes: it is a whole file, in the place of a file of changes$/,
      'inconsistent',
    );
    rmSync(changes);
    symlinkSync(changesOf(sound()), changes);
    expectRefused(path, /^a\.changes: it is a link$/, 'outside-folder');
    expectRefused(changesOf(sound()), /^it is a file of changes: name the whole file/, 'inconsistent');
  });

  it('refuses changes that do not make the declared lists, or have other rows', () => {
    for (const [statement, message] of [
      [
        "UPDATE lists SET record_count = record_count + 1 WHERE collection = 'offers'",
        /^whole file and changes have/,
      ],
      [
        'UPDATE lists SET row_count = row_count + 1 WHERE row_count > 0',
        /^a list of "north" has 1 of the 2 rows/,
      ],
      ['UPDATE tickets SET row = row - 1', /do not match their digest/],
      ['UPDATE tickets SET row = 100000', /the rows of tickets are/],
      ['DELETE FROM deletions', /^whole file and changes have/],
      ["UPDATE snapshot SET changes_since = '2026-11-23T00:00:00Z'", /which is after the snapshot$/],
      ["UPDATE snapshot SET epoch = 'x'", /its epoch "x" is not a UUID$/],
    ] as const) {
      const path = copy();
      change(changesOf(path), [statement]);
      restamp(changesOf(path));
      expectRefused(path, message);
    }
  });

  const COPIES = byDepth({ short: 150, deep: 1200 });

  it(`refuses a changed byte anywhere in the changes, or reads the same (${COPIES} copies, seed 466073)`, () => {
    const random = new Random(466_073);
    const path = copy();
    const bytes = readFileSync(changesOf(path));
    const used = Array.from(bytes.keys()).filter((at) => bytes[at] !== 0);
    const expected = readSnapshot(path);
    let refused = 0;
    for (let i = 0; i < COPIES; i++) {
      const at = used[random.below(used.length)];
      writeFileSync(changesOf(path), bytes.with(at, bytes[at] ^ (1 + random.below(255))));
      try {
        expect(isDeepStrictEqual(readSnapshot(path), expected), `byte ${at}`).to.equal(true);
      } catch (error) {
        if (!(error instanceof RefusedSnapshot)) throw error;
        refused++;
      }
    }
    expect(refused).to.be.greaterThan(COPIES / 4);
  });
});
