import { expect } from 'chai';
import fc from 'fast-check';
import { type CollectionName, OPERATIONS } from '../../src/contract/operations.ts';
import { COLLECTION_NAMES } from '../../src/contract/resources.ts';
import { Pins } from '../../src/http/checks/pin.ts';
import { byCollection } from '../../src/snapshot/format/layout.ts';
import { listOf, type ListName } from '../../src/store/organization-image.ts';
import { newServedDigests } from '../../src/store/registry/served-digests.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { byDepth } from '../support/depth.ts';
import { builtFrom, type Import, type ImportRecord } from '../support/import-folder.ts';
import { recordsIn, times } from '../support/records.ts';
import { FIXED } from '../support/random.ts';
import { withFolder } from '../support/temporary-folder.ts';
import { type ApiResponse, TestApi } from '../support/test-api.ts';
import { WALKED } from '../support/empty-image.ts';

const { event, session, ticket, order, offer } = recordsIn('north');
/** Records of each collection. A change alters the word of a record. */
const RECORDS: Readonly<Record<CollectionName, (i: number, word: string) => ImportRecord>> = {
  events: (i, title) => event(`evt_${i}`, { title }),
  sessions: (i, word) => session(`ses_${i}`, `evt_${i % COUNT}`, { durationMinutes: word.length }),
  tickets: (i, offerName) => ticket(`tkt_${i}`, { offerName, eventId: 'evt_0' }),
  orders: (i, orderNumber) => order(`ord_${i}`, { orderNumber }),
  offers: (i, name) => offer(`off_${i}`, 'PRODUCT', { name }),
};
const COUNT = 6;
// Concurrent responses decide whether one is compressed, and its tag depends on that.
const PREVIEW = { 'Service-API-Version': 'preview', 'Accept-Encoding': 'identity' };

/** The lists, the records and the streams of the API. Pages are short, so that each has a link. */
const TARGETS = OPERATIONS.flatMap((operation) => {
  if (operation.kind === 'changes') return [];
  const [, first] = Object.values(RECORDS[operation.collection](0, ''));
  const path = operation.path.replace(/\{\w+\}/, operation.kind === 'list' ? 'evt_0' : String(first));
  const list = listOf(operation.collection);
  const isLines = operation.kind === 'list';
  return [
    { path: operation.kind === 'list' ? `${path}?perPage=1` : path, list, headers: PREVIEW },
    ...(isLines ? [{ path, list, headers: { ...PREVIEW, Accept: 'application/x-ndjson' } }] : []),
  ];
});

/** A change of one record. */
const change = fc.record({
  collection: fc.constantFrom(...COLLECTION_NAMES),
  row: fc.nat(COUNT - 1),
  word: fc.constantFrom('a', 'bb', 'ccc'),
});

const linkOf = ({ text }: ApiResponse) => /"nextPage":"http:..[^/]*([^"]*)"/.exec(text)?.[1];

describe(`Over swaps that change some records (seed ${FIXED.seed})`, function () {
  this.timeout(byDepth({ short: 60_000, deep: 600_000 }));

  it('a tag and a link change exactly with the list that they belong to, and a link keeps its page', async () => {
    const served = newServedDigests();
    let stores = new StoreRegistry(served);
    await using api = await TestApi.start({ stores: () => stores.view, pins: new Pins(served, () => 1) });
    let snapshots = 0;

    async function swap(words: Readonly<Record<CollectionName, readonly string[]>>): Promise<string> {
      const records = COLLECTION_NAMES.map((name) => [
        name,
        words[name].map((word, i) => RECORDS[name](i, word)),
      ]);
      const organizations = [{ organizationId: 'north', name: 'north' }];
      const files: Import = { organizations, ...(Object.fromEntries(records) as Import) };
      const { image } = await withFolder((inFolder) => builtFrom(inFolder('import'), files));
      const snapshotId = `snapshot ${++snapshots}`;
      stores.swap('a.sqlite', { ...image, snapshotId });
      stores.releaseExpired(WALKED);
      return snapshotId;
    }

    const ask = (path: string, headers: Readonly<Record<string, string>> = PREVIEW) =>
      api.send(path, { headers });
    const askAll = () => Promise.all(TARGETS.map(({ path, headers }) => ask(path, headers)));

    const property = fc.asyncProperty(
      fc.array(fc.array(change, { maxLength: 2 }), { minLength: 1, maxLength: 4 }),
      async (history) => {
        stores = new StoreRegistry(served);
        let words = byCollection(({ name }): readonly string[] =>
          times(name === 'sessions' ? 2 * COUNT : COUNT, () => 'a'),
        );
        let snapshotId = await swap(words);
        for (const changes of history) {
          const before = await askAll();
          const links = before.map(linkOf);
          const pages = await Promise.all(
            links.map(async (link) => (link === undefined ? undefined : ask(link))),
          );
          const earlier = { words, snapshotId };
          for (const { collection, row, word } of changes)
            words = { ...words, [collection]: words[collection].with(row, word) };
          snapshotId = await swap(words);
          const isChanged = (list: ListName) =>
            COLLECTION_NAMES.some(
              (name) => listOf(name) === list && words[name].join() !== earlier.words[name].join(),
            );
          for (const [i, after] of (await askAll()).entries()) {
            const { path, list, headers } = TARGETS[i];
            const about = `${path} after ${JSON.stringify(changes)}`;
            const tag = before[i].headers['etag'];
            expect(after.headers['etag'] !== tag, about).to.equal(isChanged(list));
            expect(linkOf(after) !== links[i], about).to.equal(isChanged(list) && links[i] !== undefined);
            const again = await ask(path, { ...headers, 'If-None-Match': tag });
            expect(again.status, about).to.equal(isChanged(list) ? 200 : 304);
            const [link, page] = [links[i], pages[i]];
            if (link === undefined || page === undefined) continue;
            const followed = await ask(link);
            expect(followed.text, about).to.equal(page.text);
            expect(followed.headers['service-snapshot-id'], about).to.equal(
              isChanged(list) ? earlier.snapshotId : snapshotId,
            );
          }
        }
      },
    );
    await fc.assert(property, { ...FIXED, numRuns: byDepth({ short: 15, deep: 300 }) });
  });
});
