import { copyFileSync, mkdirSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import fc from 'fast-check';
import { findRow } from '../../../src/store/index/id-index.ts';
import { keyText } from '../../../src/store/index/key-table.ts';
import { type PostingImage, postingList } from '../../../src/store/index/posting-index.ts';
import type { InstantImage } from '../../../src/store/index/instant-index.ts';
import { type CollectionImage, collectionOf } from '../../../src/store/organization-image.ts';
import { OFFERS, ORDERS, TICKETS } from '../../../src/snapshot/format/layout.ts';
import { instantOf, readDeletions } from '../../../src/snapshot/format/manifest.ts';
import { openSnapshot } from '../../../src/snapshot/format/open-snapshot.ts';
import { applyChanges } from '../../../src/snapshot/load/apply-changes.ts';
import { Block } from '../../../src/snapshot/load/block.ts';
import type { StoredList } from '../../../src/snapshot/load/collection-loader.ts';
import { SnapshotReader } from '../../../src/snapshot/load/snapshot-reader.ts';
import { byDepth } from '../../support/depth.ts';
import { build, buildFile, textsOf, writeImport } from '../../support/import-folder.ts';
import { change, World } from '../../support/random-history.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { recordsIn, times } from '../../support/records.ts';
import { alterRecords, type ListContent } from '../../support/alter-records.ts';
import { reseal } from '../../support/digests.ts';
import type { KnownList } from '../../../src/store/registry/store-view.ts';
import { folderForAll, withFolder } from '../../support/temporary-folder.ts';

const later = (ms: number) => new Date(Date.UTC(2026, 10, 21, 12) + ms);

/** A list that is continued from snapshot to snapshot, with its changes. */
interface Continued {
  readonly image: CollectionImage;
  readonly changed: InstantImage;
}

let slabs = 0;

/** Returns an image whose records others may share, as those of a large list are. */
function asShared(image: CollectionImage): CollectionImage {
  const { slabs: own, ...records } = image.records;
  const numbered = own.map(({ bytes }) => ({ number: ++slabs, bytes }));
  return { ...image, records: { ...records, slabs: numbered, isShared: true } };
}

/** Returns the posting list of each key, without keys that have none. */
function listsOf(image: PostingImage): Record<string, readonly number[]> {
  const keys = Array.from({ length: image.keys.ends.length - 1 }, (_, key) => key);
  return Object.fromEntries(
    keys
      .map((key) => [keyText(image.keys, key), [...postingList(image, key)]] as const)
      .filter(([, rows]) => rows.length > 0),
  );
}

/** Returns what a list answers, which does not depend on the numbers of keys. */
function contentOf({ image, changed }: Continued, composites: readonly string[]) {
  const { postings, instants, records, ids } = image;
  const texts = textsOf(image);
  const named = Object.entries(postings).filter(([index]) => !composites.includes(index));
  return {
    texts,
    rows: texts.map((text) => findRow(ids, records, String(Object.values(JSON.parse(text) as object)[0]))),
    postings: Object.fromEntries(named.map(([index, one]) => [index, listsOf(one)])),
    pairs: composites.map((index) => Object.values(listsOf(postings[index])).sort()),
    instants,
    changed: [...changed.sorted].map((instant, i) => [instant, changed.rows[i]]).sort(),
    sum: image.recordsSum,
  };
}

describe('A list that is made of the live one and of changes', () => {
  it('equals the list that is loaded from the files, after any changes', async () => {
    let ofChanges = 0;
    const step = fc.array(change, { maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 150, maxLength: 200 }),
        fc.array(step, { minLength: 2, maxLength: 5 }),
        (first, steps) =>
          withFolder(async (inFolder) => {
            mkdirSync(inFolder('served'));
            const world = new World();
            let continued = new Map<string, Continued>();
            let until = 0n;
            for (const [i, changes] of [first, ...steps].entries()) {
              const changed = world.apply(changes);
              writeImport(inFolder('import'), i === 0 ? world.all() : changed);
              const file = inFolder('served/a.sqlite');
              // Changes are known since the snapshot before the last, so that a whole file follows on some changes.
              const options = { producedAt: later(i), keepChangesMs: 2, permits: [], allowShrink: true };
              await build(inFolder('import'), file, i === 0 ? options : { base: file, ...options });
              const loaded = readSnapshot(file);
              using snapshot = openSnapshot(file);
              const reader = new SnapshotReader(snapshot);
              const { changesSince } = snapshot.manifest;
              const isEnough = changesSince !== '' && instantOf(changesSince) <= until;
              if (isEnough) ofChanges++;
              const { ancestors, ...origin } = snapshot.manifest;
              const at = [...ancestors, origin].map(({ producedAt }) => instantOf(producedAt));
              const now = instantOf(later(i).toISOString());
              const next = new Map<string, Continued>();
              for (const [position, organization] of snapshot.manifest.organizations.entries()) {
                const image = loaded.organizations[position];
                const deletions = [...readDeletions(snapshot.latest.database, organization, now)];
                for (const layout of [TICKETS, ORDERS, OFFERS]) {
                  const { name } = layout;
                  const key = `${organization.organizationId} ${name}`;
                  const cold = {
                    image: collectionOf(image, name),
                    changed: image.history.changes[name].changed,
                  };
                  const earlier = continued.get(key);
                  next.set(key, { ...cold, image: asShared(cold.image) });
                  if (earlier === undefined) continue;
                  const declared = organization.lists[name];
                  const id = organization.organizationId;
                  const read = isEnough ? reader.readChanges(layout, id) : reader.readList(layout, id);
                  const deleted = deletions
                    .filter(({ collection, deletedAt }) => collection === name && deletedAt > until)
                    .map(({ id }) => id);
                  const known = { name: 'tickets', collections: { [name]: earlier.image } };
                  const list = {
                    ...{ layout, declared, same: undefined, predecessor: undefined },
                    blocks: read.map((block) => new Block(layout, block)),
                    known: [{ organizationId: '', image: known, stays: false }],
                    range: { ...image.history, times: new Set(at) },
                  } as unknown as StoredList;
                  const applied = applyChanges(list, { ...earlier, until, deleted });
                  const composites = layout.composites.map((pair) => pair.join(' '));
                  expect(contentOf(applied, composites), `${key} ${i}`).to.deep.equal(
                    contentOf(cold, composites),
                  );
                  next.set(key, { changed: applied.changed, image: asShared(applied.image) });
                }
              }
              continued = next;
              until = now;
            }
          }),
      ),
      { seed: 20261128, numRuns: byDepth({ short: 4, deep: 200 }) },
    );
    expect(ofChanges).to.be.greaterThan(3);
  });
});

describe('A load of a snapshot that descends from the live one', () => {
  const inFolder = folderForAll();
  const { ticket } = recordsIn('north');
  const ids = times(603, (i) => `tkt_${i}`);
  const tickets = ids.map((id, i) =>
    ticket(id, { offerName: 'x'.repeat(4000), issuedAt: later(-100_000 * ((i * 7) % 603)).toISOString() }),
  );
  const first = () => inFolder('first/a.sqlite');
  /** The first file with changes, and the same snapshot as one file. */
  const second = () => inFolder('second/a.sqlite');
  const whole = () => inFolder('whole/a.sqlite');

  before(async () => {
    for (const folder of ['first', 'second', 'whole']) mkdirSync(inFolder(folder));
    await buildFile({ organizations: [{ organizationId: 'north' }], tickets }, first());
    const changed = [ticket('tkt_new'), ticket('tkt_7', { offerName: 'changed' })];
    const deletions = [{ organizationId: 'north', collection: 'tickets', id: 'tkt_9' }];
    copyFileSync(first(), second());
    const options = { base: second(), producedAt: later(1) };
    await buildFile({ tickets: changed, deletions }, whole(), options);
    await buildFile({ tickets: changed, deletions }, second(), { ...options, permits: [] });
  });

  /** Loads a file after the first one. Returns the tickets, and the number of records that were read. */
  function loadAfterFirst(path: string, countFirst = false) {
    const known = readSnapshot(first()).organizations.flatMap(
      ({ organizationId, lists, history }): KnownList[] => [
        { organizationId, image: lists.tickets, stays: false, history },
      ],
    );
    let read = 0;
    const onProgress = (records: number) => (read = records);
    let toCopy = 0;
    const { organizations } = readSnapshot(path, {
      admit: (_, bytesToCopy) => {
        if (countFirst) toCopy = bytesToCopy(known);
        return { known };
      },
      onProgress,
    });
    const [{ history }] = organizations;
    return {
      toCopy,
      texts: textsOf(collectionOf(organizations[0], 'tickets')),
      changes: history.changes.tickets,
      read,
    };
  }

  for (const [what, file, count] of [
    ['the changes alone', second, 2],
    ['a whole file', whole, 603],
  ] as const)
    it(`reads ${what}, and makes the list of the live one`, () => {
      const { texts, changes, read } = loadAfterFirst(file());
      expect(read).to.equal(count);
      expect(texts).to.deep.equal(textsOf(collectionOf(readSnapshot(whole()).organizations[0], 'tickets')));
      expect(changes.changed.sorted).to.have.length(2);
      expect(changes.deleted.sorted).to.have.length(1);
    });

  const setRecord = ({ records }: ListContent) => {
    records[1] = records[1].replace('xxx', 'yyy');
  };
  for (const [what, alter] of [
    [
      'a change',
      (path: string) => {
        alterRecords(path, 'tickets', setRecord);
      },
    ],
    ['a deletion', (path: string) => new Database(path).exec('DELETE FROM deletions').close()],
  ] as const)
    it(`reads all records of a list whose history lacks ${what}`, () => {
      const path = inFolder('altered.sqlite');
      copyFileSync(whole(), path);
      alter(path);
      reseal(path);
      const { texts, read, toCopy } = loadAfterFirst(path, true);
      expect(toCopy).to.be.greaterThan(0);
      expect(texts).to.deep.equal(textsOf(collectionOf(readSnapshot(path).organizations[0], 'tickets')));
      expect(read).to.equal(texts.length);
    });
});
