import type { CollectionName } from '../../contract/operations.ts';
import type { KnownList } from '../../store/registry/store-view.ts';
import { byList, listOf } from '../../store/organization-image.ts';
import { type CollectionLayout, COLLECTIONS, layoutsOf } from '../format/layout.ts';
import {
  type Deletion,
  instantOf,
  isPacked,
  listDigest,
  type ManifestOrganization,
} from '../format/manifest.ts';
import { inconsistent } from '../format/refused-snapshot.ts';
import { Block } from './block.ts';
import type { FileHistory, StoredList } from './collection-loader.ts';
import { type Part, takeBlocks } from './parts.ts';

export type StoredOrganization = ReturnType<typeof storedOrganization>;

/** Returns an organization with what is read of it: all, or of lists that descend from live ones the changes alone. */
export function storedOrganization(
  organization: ManifestOrganization,
  { since: earliest, until, changesSince, times }: FileHistory,
  inMemory: readonly KnownList[],
) {
  const began = instantOf(organization.since);
  const range = { since: earliest > began ? earliest : began, until, times };
  const lists = byList((name) => {
    const digest = listDigest(organization, name);
    const known = inMemory.filter(({ image }) => image.name === name);
    const same = known.find(({ image }) => image.digest === digest)?.image;
    // A list of several collections is loaded as a whole.
    const [{ name: only }, ...others] = layoutsOf(name);
    const isContinued = others.length === 0 && !isPacked(organization.lists[only]);
    const live = known.find(({ history }) => isContinued && history !== undefined && history.until >= began);
    const isOther = same !== undefined && same !== live?.image;
    return { digest, known, same, live: isOther ? undefined : live };
  });
  const continued = COLLECTIONS.filter(({ name }) => {
    const { live } = lists[listOf(name)];
    return live?.history !== undefined && changesSince !== undefined && live.history.until >= changesSince;
  });
  const changesOf: ReadonlySet<CollectionName> = new Set(continued.map(({ name }) => name));
  return { organization, changesOf, range, lists, inMemory };
}

/** Returns a collection to read. */
export function storedList(
  { organization, changesOf, range, lists }: StoredOrganization,
  layout: CollectionLayout,
  parts: Iterator<Part>,
  deletions: readonly Deletion[],
): StoredList {
  const { name } = layout;
  const declared = organization.lists[name];
  const read = function* () {
    const isWhole = !changesOf.has(name);
    const rest = { ...declared };
    const differs = (how: string) =>
      inconsistent(
        `the ${name} of "${organization.organizationId}" have ${how} bytes or elements than declared`,
      );
    for (const stored of takeBlocks(parts, isWhole ? declared.recordCount : declared.rowCount)) {
      const block = new Block(layout, stored);
      rest.recordBytes -= block.recordBytes;
      rest.textBytes -= block.textBytes;
      rest.listElements -= block.listElements;
      // Memory is reserved by what is declared.
      if (Math.min(rest.recordBytes, rest.textBytes, rest.listElements) < 0) throw differs('more');
      yield block;
      block.release();
    }
    if (isWhole && Math.max(rest.recordBytes, rest.textBytes, rest.listElements) > 0) throw differs('fewer');
  };
  const { known, same, live } = lists[listOf(name)];
  const stored = { layout, declared, blocks: read(), known, same, range };
  if (live?.history === undefined) return { ...stored, predecessor: undefined };
  const { until, changes } = live.history;
  const isDeleted = ({ collection, deletedAt }: Deletion) => collection === name && deletedAt > until;
  const deleted = deletions.filter(isDeleted).map(({ id }) => id);
  const image = live.image.collections[name];
  return { ...stored, predecessor: { image, until, changed: changes[name].changed, deleted } };
}
