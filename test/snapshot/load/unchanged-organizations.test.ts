import { mkdirSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { Admission } from '../../../src/snapshot/admission/admit.ts';
import { byCollection } from '../../../src/snapshot/format/layout.ts';
import { tidySnapshot } from '../../../src/snapshot/publish/tidy-snapshot.ts';
import { loadSnapshot } from '../../../src/snapshot/load/load-snapshot.ts';
import { collectionOf, type OrganizationImage } from '../../../src/store/organization-image.ts';
import { StoreRegistry } from '../../../src/store/registry/store-registry.ts';
import { recordAt } from '../../../src/store/records.ts';
import { byDepth } from '../../support/depth.ts';
import { build, digestsOf, PRODUCED_AT, textsOf, writeImport } from '../../support/import-folder.ts';
import { change, ORGANIZATIONS, World } from '../../support/random-history.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { withFolder } from '../../support/temporary-folder.ts';

const later = (step: number) => new Date(PRODUCED_AT.getTime() + step);

/** Returns what an organization answers. */
function contentOf(image: OrganizationImage) {
  const { since, until, lineage, changes } = image.history;
  return {
    history: [since, until, Buffer.from(lineage).toString()],
    ...byCollection(({ name }) => {
      const { changed, deleted } = changes[name];
      return {
        texts: textsOf(collectionOf(image, name)),
        changed: Array.from(changed.sorted, (instant, i) => [instant, changed.rows[i]]).filter(
          ([instant]) => instant > since,
        ),
        deleted: Array.from(deleted.sorted, (instant, i) => [
          instant,
          recordAt(deleted.ids, i).toString(),
        ]).filter(([instant]) => Number(instant) > Number(since)),
      };
    }),
  };
}

const step = fc.record({
  changes: fc.array(change, { maxLength: 15 }),
  /** The organizations that the step may change. */
  changing: fc.constantFrom<readonly string[]>([], ['north'], ['south'], ORGANIZATIONS),
  isTidied: fc.boolean(),
  isLoaded: fc.boolean(),
});

describe('An organization that does not change', () => {
  it('stays in memory, and has the records and the history that a load of all would give', async () => {
    let kept = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 50, maxLength: 100 }),
        fc.array(step, { minLength: 3, maxLength: 6 }),
        (first, steps) =>
          withFolder(async (inFolder) => {
            mkdirSync(inFolder('served'));
            const published = inFolder('served/a.sqlite');
            const stores = new StoreRegistry();
            const admission = new Admission(stores, { bytes: Infinity, source: 'machine' }, 1);
            const load = async () => {
              const image = await loadSnapshot(published, {
                admit: (manifest) => Promise.resolve(admission.admit('a.sqlite', manifest)),
                readsAhead: stores.live.size === 0,
              });
              kept += image.unchanged?.organizationIds.length ?? 0;
              stores.swap('a.sqlite', image);
              const cold = readSnapshot(published);
              for (const expected of cold.organizations) {
                const live = stores.live.get(expected.organizationId);
                expect(live?.store.snapshotId).to.equal(cold.snapshotId);
                expect(live && contentOf(live.store)).to.deep.equal(contentOf(expected));
                const { lists, history } = live?.store ?? expected;
                const digests = digestsOf({ ...cold, organizations: [{ ...expected, lists, history }] });
                expect(digests).to.deep.equal(digestsOf({ ...cold, organizations: [expected] }));
                expect(history.digest).to.equal(expected.history.digest);
              }
            };
            const world = new World();
            world.apply(first);
            writeImport(inFolder('all'), world.all());
            await build(inFolder('all'), published, { permits: [] });
            await load();
            for (const [i, { changes, changing, isTidied, isLoaded }] of steps.entries()) {
              const chosen = changes.filter(({ organizationId }) => changing.includes(organizationId));
              writeImport(inFolder('changes'), world.apply(chosen));
              const options = { base: published, producedAt: later(i + 1), permits: [], allowShrink: true };
              await build(inFolder('changes'), published, options);
              if (isTidied) await tidySnapshot(published, true);
              if (isLoaded) await load();
            }
          }),
      ),
      { seed: 20261129, numRuns: byDepth({ short: 5, deep: 100 }), endOnFailure: true },
    );
    expect(kept).to.be.greaterThan(3);
  });
});
