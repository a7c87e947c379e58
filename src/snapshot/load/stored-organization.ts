import type { KnownList } from '../../store/registry/store-view.ts';
import { byList, type HistoryImage, listOf } from '../../store/organization-image.ts';
import { byCollection, type CollectionLayout, layoutsOf } from '../format/layout.ts';
import {
  type Deletion,
  instantOf,
  isPacked,
  listDigest,
  type ManifestOrganization,
} from '../format/manifest.ts';
import type { StoredList } from './collection-loader.ts';
import { type Part, takeColumns } from './parts.ts';
import { Run, type RunReader } from './run-reader.ts';

/** What the histories of the organizations of a file have in common. */
export type FileHistory = Pick<HistoryImage, 'digest' | 'lineage' | 'since' | 'until'>;

export type StoredOrganization = ReturnType<typeof storedOrganization>;

/** Returns an organization with the runs to read: all, or only those with changes since the live snapshot. */
export function storedOrganization(
  organization: ManifestOrganization,
  { since: earliest, until }: FileHistory,
  inMemory: readonly KnownList[],
  hasChangedAfter: RunReader['hasChangedAfter'],
) {
  const { organizationId } = organization;
  const began = instantOf(organization.since);
  const range = { since: earliest > began ? earliest : began, until };
  const lists = byList((name) => {
    const digest = listDigest(organization.runs, name);
    const known = inMemory.filter(({ image }) => image.name === name);
    const same = known.find(({ image }) => image.digest === digest)?.image;
    // A list of several collections is loaded as a whole.
    const [{ name: only }, ...others] = layoutsOf(name);
    const isContinued = others.length === 0 && !isPacked(organization.runs[only]);
    const live = known.find(({ history }) => isContinued && history !== undefined && history.until >= began);
    const isOther = same !== undefined && same !== live?.image;
    return { digest, known, same, live: isOther ? undefined : live };
  });
  const runs = byCollection((layout) => {
    const { same, live } = lists[listOf(layout.name)];
    const { [layout.name]: all } = organization.runs;
    if (live?.history === undefined) return all;
    const { until: after } = live.history;
    if (same !== undefined) return [];
    return all.filter((entry) => hasChangedAfter(after, until, layout, organizationId, entry));
  });
  return { organization, runs, range, lists, inMemory };
}

/** Returns a collection to read. */
export function storedList(
  { organization, runs, range, lists }: StoredOrganization,
  layout: CollectionLayout,
  parts: Iterator<Part>,
  deletions: readonly Deletion[],
): StoredList {
  const { name } = layout;
  const read = function* () {
    for (const entry of runs[name]) {
      const run = new Run(layout, organization.organizationId, entry, takeColumns(parts));
      yield run;
      run.release();
    }
  };
  const { known, same, live } = lists[listOf(name)];
  const stored = { layout, entries: organization.runs[name], runs: read(), known, same, range };
  if (live?.history === undefined) return { ...stored, predecessor: undefined };
  const { until, changes } = live.history;
  const isDeleted = ({ collection, instant }: Deletion) => collection === name && instant > until;
  const deleted = deletions.filter(isDeleted).map(({ id }) => id);
  const image = live.image.collections[name];
  return { ...stored, predecessor: { image, until, changed: changes[name].changed, deleted } };
}
