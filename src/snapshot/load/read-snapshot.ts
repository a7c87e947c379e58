import type { CollectionName } from '../../contract/operations.ts';
import { sizedImage } from '../../store/memory/image-memory.ts';
import { sharedUint32s } from '../../store/memory/shared-arrays.ts';
import type { KnownList } from '../../store/registry/store-view.ts';
import {
  byList,
  type HistoryImage,
  lineageOf,
  type ListImage,
  listOf,
  type LoadedImage,
  NO_SCHEDULE,
} from '../../store/organization-image.ts';
import {
  type CollectionLayout,
  EVENTS,
  layoutsOf,
  OFFERS,
  ORDERS,
  SESSIONS,
  TICKETS,
} from '../format/layout.ts';
import {
  instantOf,
  listDigest,
  type Manifest,
  manifestDigest,
  type ManifestOrganization,
  recordsIn,
  type RunEntry,
} from '../format/manifest.ts';
import type { Place } from '../format/list-order.ts';
import { asRefusal, openSnapshot } from '../format/snapshot-file.ts';
import { checkRecords } from './check-records.ts';
import { bytesToCopy, loadCollection, type StoredList } from './collection-loader.ts';
import { loadDeletions } from './load-deletions.ts';
import { type RecordForm, STORED_EVENT, STORED_OFFER, STORED_ORDER, STORED_TICKET } from './record-form.ts';
import { IN_LOAD_ORDER, type Part, readParts, takeColumns, takeDeletions } from './parts.ts';
import { Run } from './run-reader.ts';
import { loadSessions } from './sessions-loader.ts';

/** Called after each run with the number of records that were read, of those to read, and with the list of the run. */
export type OnProgress = (records: number, total: number, list: CollectionName) => void;

export interface ReadOptions {
  /**
   * Called with the manifest before any content is read. Returns lists in memory; throws to refuse the snapshot.
   * @param bytesToCopy computes the bytes of records that are not in such lists: reads all records
   */
  readonly admit?: (
    manifest: Manifest,
    bytesToCopy: (known: readonly KnownList[]) => number,
  ) => readonly KnownList[];
  readonly onProgress?: OnProgress | undefined;
  /** Whether to check also the sums of digests, and the records that serving only copies: tickets and orders. */
  readonly isThorough?: boolean | undefined;
  /** The `recordsSum` by digest of runs that a thorough read has parsed before. Of these, the digest and the order are checked. */
  readonly parsedRuns?: ReadonlyMap<string, string> | undefined;
}

/** Reads the manifest of a snapshot file, and none of its content. Throws RefusedSnapshot like the others here. */
export function inspectSnapshot(path: string): Manifest {
  using snapshot = openSnapshot(path);
  return snapshot.manifest;
}

/**
 * Reads a snapshot file into shared memory, and checks it in full.
 * The checks cover header, schema, counts, order of sessions, distinct ids, the digest of every run, deletions, and the
 * form of the records that serving depends on. Passes on each organization when it is read, in manifest order.
 */
export function readOrganizations(
  path: string,
  options: ReadOptions,
  onOrganization: (image: LoadedImage) => void,
): Manifest {
  using snapshot = openSnapshot(path);
  return loadOrganizations(snapshot.manifest, () => readParts(snapshot), options, onOrganization);
}

/**
 * Loads the content of a snapshot file, as `readOrganizations` does.
 * @param partsOf returns the parts of the file from the first one on
 */
export function loadOrganizations(
  manifest: Manifest,
  partsOf: () => Iterator<Part>,
  options: ReadOptions,
  onOrganization: (image: LoadedImage) => void,
): Manifest {
  const snapshots = [...manifest.ancestors, manifest].map(
    (one) => [one.snapshotId, instantOf(one.producedAt)] as const,
  );
  const history = {
    digest: manifestDigest(manifest),
    lineage: lineageOf(snapshots),
    since: snapshots[0][1],
    until: instantOf(manifest.producedAt),
  };
  const listsIn = (known: readonly KnownList[]) => {
    const owned = Map.groupBy(known, ({ organizationId }) => organizationId);
    return (id: string) => owned.get(id) ?? [];
  };
  try {
    const known = options.admit?.(manifest, (lists) => {
      const listsOf = listsIn(lists);
      const content = { ...history, parts: partsOf() };
      let bytes = 0;
      for (const one of manifest.organizations) {
        const { stored } = storedLists(content, one, listsOf(one.organizationId));
        for (const layout of IN_LOAD_ORDER) bytes += bytesToCopy(stored(layout));
        Array.from(takeDeletions(content.parts));
      }
      return bytes;
    });
    const listsOf = listsIn(known ?? []);
    const content = { ...history, parts: partsOf() };
    const onRun = runCounter(recordsIn(manifest), options.onProgress);
    for (const organization of manifest.organizations) {
      const lists = listsOf(organization.organizationId);
      onOrganization(readOrganization(content, organization, lists, options, onRun));
    }
  } catch (error) {
    throw asRefusal(error);
  }
  return manifest;
}

/** The forms of records that serving only copies. */
const COPIED_FORMS: Partial<Record<CollectionName, RecordForm>> = {
  tickets: STORED_TICKET,
  orders: STORED_ORDER,
};

/** The next parts of a file, and what the histories of its organizations have in common. */
interface FileContent extends Pick<HistoryImage, 'digest' | 'lineage' | 'since' | 'until'> {
  readonly parts: Iterator<Part>;
}

/** Returns the lists of an organization, with those in memory, and a function that returns a collection to read. */
function storedLists(
  content: FileContent,
  { organizationId, runs, ...organization }: ManifestOrganization,
  inMemory: readonly KnownList[],
) {
  const { since: earliest, until } = content;
  const began = instantOf(organization.since);
  const range = { since: earliest > began ? earliest : began, until };
  const lists = byList((name) => {
    const digest = listDigest(runs, name);
    const known = inMemory.filter(({ image }) => image.name === name);
    return { digest, known, same: known.find(({ image }) => image.digest === digest)?.image };
  });
  const stored = (layout: CollectionLayout, onRun?: (run: Run) => void): StoredList => {
    const entries = runs[layout.name];
    const read = function* () {
      for (const entry of entries) {
        const run = new Run(layout, organizationId, entry, takeColumns(content.parts));
        yield run;
        onRun?.(run);
        run.release();
      }
    };
    const { known, same } = lists[listOf(layout.name)];
    return { layout, entries, runs: read(), known, same, range };
  };
  return { range, lists, stored };
}

function readOrganization(
  content: FileContent,
  organization: ManifestOrganization,
  inMemory: readonly KnownList[],
  { isThorough = false, parsedRuns }: ReadOptions,
  onRun: ReturnType<typeof runCounter>,
): LoadedImage {
  const { organizationId } = organization;
  const { digest, lineage } = content;
  const { range, lists: declared, stored: toRead } = storedLists(content, organization, inMemory);
  const stored = (layout: CollectionLayout) => {
    let last: Place | undefined;
    return toRead(layout, (run) => {
      const isParsed = parsedRuns?.get(run.entry.digest) === run.entry.recordsSum;
      if (isThorough) last = checkRecords(run, COPIED_FORMS[layout.name], isParsed, last);
      onRun(layout, run.entry);
    });
  };
  // In load order.
  const tickets = loadCollection(stored(TICKETS));
  const orders = loadCollection(stored(ORDERS));
  // A response adds fields to an event, and partial views search the text of an offer.
  const events = loadCollection(stored(EVENTS), STORED_EVENT);
  const { schedule, ...sessions } = loadSessions(stored(SESSIONS), events.image);
  const offers = loadCollection(stored(OFFERS), STORED_OFFER);
  const scheduled = { ...events, image: { ...events.image, instants: { startAt: schedule.startAt } } };
  const loaded = { events: scheduled, sessions, tickets, orders, offers };
  const lists = byList((name) => {
    const layouts = layoutsOf(name);
    const { digest: listed, same } = declared[name];
    return (
      same ??
      sizedImage({
        name,
        digest: listed,
        collections: Object.fromEntries(layouts.map((layout) => [layout.name, loaded[layout.name].image])),
        schedule: name === 'events' ? schedule : NO_SCHEDULE,
        uses: sharedUint32s(2),
      })
    );
  });
  const changes = loadDeletions(takeDeletions(content.parts), loaded, range.since);
  const history = sizedImage({
    name: 'history' as const,
    digest,
    ...range,
    changes,
    uses: sharedUint32s(2),
  });
  const earlier = inMemory.flatMap(({ image }): ListImage[] => {
    const collections = layoutsOf(image.name).map(({ name }) => {
      const { [name]: collection } = image.collections;
      return [name, { ...collection, records: loaded[name].continued(collection.records) }] as const;
    });
    const isSame = collections.every(([name, { records }]) => records === image.collections[name].records);
    return isSame ? [] : [{ ...image, collections: Object.fromEntries(collections) }];
  });
  return { organizationId, lists, history: { ...history, lineage }, earlier };
}

/** Returns a function that counts the records of each run that was read, and reports them. */
export function runCounter(total: number, onProgress?: OnProgress) {
  let records = 0;
  return ({ name }: CollectionLayout, { recordCount }: RunEntry): void => {
    records += recordCount;
    onProgress?.(records, total, name);
  };
}
