import { existsSync, linkSync, mkdirSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { changesOf, inspectSnapshot, openSnapshot } from '../../../src/snapshot/format/open-snapshot.ts';
import { publishSnapshot } from '../../../src/snapshot/publish/publish-snapshot.ts';
import { tidySnapshot } from '../../../src/snapshot/publish/tidy-snapshot.ts';
import { makeWhole } from '../../../src/snapshot/write/make-whole.ts';
import { byDepth } from '../../support/depth.ts';
import {
  build,
  buildFile,
  digestsOf,
  organizationOf,
  PRODUCED_AT,
  recordsOf,
  writeImport,
} from '../../support/import-folder.ts';
import { recordsIn } from '../../support/records.ts';
import { change, World } from '../../support/random-history.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { expectSameRows } from '../../support/stored-rows.ts';
import { withFolder } from '../../support/temporary-folder.ts';

const later = (step: number) => new Date(PRODUCED_AT.getTime() + step);
const digestsIn = (file: string) => digestsOf(readSnapshot(file, { isThorough: true }));

const step = fc.record({
  changes: fc.array(change, { maxLength: 25 }),
  // What else happens before, on the same machine.
  before: fc.constantFrom(
    'nothing',
    'nothing',
    'tidying',
    'tidying, beside the links of a feed',
    'a full build',
    'a publication of the same',
  ),
  keepChangesMs: fc.constantFrom(2, 100),
});

describe('A whole file and its changes', () => {
  it('have the records and the history of a build of all records, after any builds and tidying', async () => {
    let pairs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 200 }),
        fc.array(step, { minLength: 1, maxLength: 8 }),
        async (first, steps) => {
          await withFolder(async (inFolder) => {
            const world = new World();
            mkdirSync(inFolder('served'));
            const published = inFolder('served/a.sqlite');
            world.apply(first);
            writeImport(inFolder('all'), world.all());
            let whole = inFolder('0.sqlite');
            await build(inFolder('all'), whole);
            await publishSnapshot({ file: whole, path: published, permits: [] });
            for (const [i, { changes, before, keepChangesMs }] of steps.entries()) {
              let base = published;
              if (before.startsWith('tidying')) {
                if (before !== 'tidying') {
                  base = inFolder(`links-${i}.sqlite`);
                  linkSync(published, base);
                  if (existsSync(changesOf(published))) linkSync(changesOf(published), changesOf(base));
                }
                const { snapshotId } = inspectSnapshot(published);
                await tidySnapshot(published, true);
                using tidied = openSnapshot(published);
                expect(tidied.whole.manifest).to.include({ snapshotId, changesSince: '' });
              } else if (before === 'a publication of the same') {
                const copy = inFolder(`copy-${i}.sqlite`);
                using snapshot = openSnapshot(published);
                Array.from(makeWhole(snapshot, copy));
                await publishSnapshot({ file: copy, path: published, permits: [] });
                expect(existsSync(changesOf(published))).to.equal(false);
              }
              const { deletions, ...changed } = world.apply(changes);
              const options = { producedAt: later(i + 1), keepChangesMs, permits: [], allowShrink: true };
              writeImport(inFolder('all'), world.all());
              if (before === 'a full build')
                await build(inFolder('all'), published, { previous: published, ...options });
              else {
                writeImport(inFolder('changes'), { ...changed, deletions });
                await build(inFolder('changes'), published, { base, ...options });
              }
              const previous = whole;
              whole = inFolder(`${i + 1}.sqlite`);
              await build(inFolder('all'), whole, { previous, ...options, permits: undefined });
              expect(digestsIn(published), `step ${i}`).to.deep.equal(digestsIn(whole));
              const copy = inFolder(`whole-${i}.sqlite`);
              using snapshot = openSnapshot(published);
              if (snapshot.changes !== undefined) pairs++;
              Array.from(makeWhole(snapshot, copy));
              expectSameRows(copy, whole, `step ${i}`);
            }
          });
        },
      ),
      { seed: 20261129, numRuns: byDepth({ short: 6, deep: 200 }) },
    );
    expect(pairs).to.be.greaterThan(5);
  });

  it('have sessions in order that have moved with their events and back, whichever whole file is published', async () => {
    await withFolder(async (inFolder) => {
      const { event, session } = recordsIn('north');
      mkdirSync(inFolder('served'));
      const [published, links] = [inFolder('served/a.sqlite'), inFolder('links.sqlite')];
      const at = (day: number) => ({ createdAt: `2026-01-0${day}T00:00:00Z` });
      const options = (step: number) => ({ permits: [], producedAt: later(step) });
      const files = {
        organizations: [{ organizationId: 'north' }],
        events: [event('a', at(2)), event('x', at(1))],
        sessions: [session('of a', 'a'), session('of x', 'x')],
      };
      await buildFile(files, published, options(0));
      await buildFile({ events: [event('x', at(3))] }, published, { base: published, ...options(1) });
      linkSync(published, links);
      linkSync(changesOf(published), changesOf(links));
      await tidySnapshot(published, true);
      await buildFile({ events: [event('a', at(4))] }, published, { base: links, ...options(2) });
      const { sessions } = organizationOf(readSnapshot(published, { isThorough: true }), 'north');
      expect([...recordsOf(sessions).keys()]).to.deep.equal(['of a', 'of x']);
    });
  });
});
