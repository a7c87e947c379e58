import type { CollectionName } from '../../contract/operations.ts';
import { sizedImage } from '../../store/memory/image-memory.ts';
import { sharedUint32s } from '../../store/memory/shared-arrays.ts';
import type { Admitted, KnownList } from '../../store/registry/store-view.ts';
import {
  byList,
  lineageOf,
  type ListImage,
  type LoadedImage,
  NO_SCHEDULE,
  type SnapshotImage,
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
import { instantOf, type Manifest, manifestDigest, recordsIn } from '../format/manifest.ts';
import type { Instant } from '../../contract/timestamp.ts';
import { openSnapshot } from '../format/open-snapshot.ts';
import { asRefusal } from '../format/snapshot-file.ts';
import { checkRecords } from './check-records.ts';
import { bytesToCopy, loadOrContinue, OtherHistory } from './apply-changes.ts';
import type { FileHistory, StoredList } from './collection-loader.ts';
import { loadDeletions } from './load-deletions.ts';
import { type RecordForm, STORED_EVENT, STORED_OFFER, STORED_ORDER, STORED_TICKET } from './record-form.ts';
import { IN_LOAD_ORDER, type Part, type ReadOrganization, readParts, takeDeletions } from './parts.ts';
import type { Block } from './block.ts';
import { SnapshotReader } from './snapshot-reader.ts';
import { storedList, type StoredOrganization, storedOrganization } from './stored-organization.ts';
import { loadSessions } from './sessions-loader.ts';
import { unchangedOf } from './unchanged-organizations.ts';

/** Called after each block with the number of records that were read, of those to read, and with its list. */
export type OnProgress = (records: number, total: number, list: CollectionName) => void;

export interface ReadOptions {
  /**
   * Called with the manifest before any content is read. Returns lists in memory; throws to refuse the snapshot.
   * @param bytesToCopy computes the bytes of records that are not in such lists: reads all records
   */
  readonly admit?: (
    manifest: Manifest,
    bytesToCopy: (known: readonly KnownList[]) => number,
  ) => Pick<Admitted, 'known' | 'same'>;
  readonly onProgress?: OnProgress | undefined;
  /** Whether to check also the sums of digests, and the records that serving only copies: tickets and orders. */
  readonly isThorough?: boolean | undefined;
}

/**
 * Reads a snapshot file into shared memory, and checks it in full.
 * The checks cover header, schema, counts, order of sessions, distinct ids, the digest of each list whose
 * records are read, deletions, and the form of the records that serving depends on. Passes on each organization when it is
 * read, in manifest order.
 */
export function readOrganizations(
  path: string,
  options: ReadOptions,
  onOrganization: (image: LoadedImage) => void,
): LoadedSnapshot {
  using snapshot = openSnapshot(path);
  const reader = new SnapshotReader(snapshot);
  const partsOf: PartsOf = (organizations) => readParts(snapshot, reader, organizations);
  const hasChanges = (organizationId: string, after: Instant) =>
    reader.hasChangesAfter(organizationId, after);
  return loadOrganizations(snapshot.manifest, partsOf, options, onOrganization, hasChanges);
}

export interface LoadedSnapshot extends Manifest, Pick<SnapshotImage, 'unchanged'> {}

/** Returns the parts of organizations, of which it may get less than all records. */
export type PartsOf = (organizations: readonly ReadOrganization[]) => Iterator<Part>;

/**
 * Loads the content of a snapshot file, as `readOrganizations` does.
 * @param hasChanges returns whether the file of changes has some of an organization after a time
 */
export function loadOrganizations(
  manifest: Manifest,
  partsOf: PartsOf,
  options: ReadOptions,
  onOrganization: (image: LoadedImage) => void,
  hasChanges: (organizationId: string, after: Instant) => boolean = () => true,
): LoadedSnapshot {
  const snapshots = [...manifest.ancestors, manifest].map(
    (one) => [one.snapshotId, instantOf(one.producedAt)] as const,
  );
  const history = {
    digest: manifestDigest(manifest),
    lineage: lineageOf(snapshots),
    since: snapshots[0][1],
    until: instantOf(manifest.producedAt),
    changesSince: manifest.changesSince === '' ? undefined : instantOf(manifest.changesSince),
    times: new Set(snapshots.map(([, instant]) => instant)),
  };
  /**
   * Calls a function with each organization, and the parts of its content. Calls it again with all records of an
   * organization whose history does not lead from the live lists to the new ones.
   */
  const readAll = (
    known: readonly KnownList[],
    read: (list: StoredOrganization, parts: Iterator<Part>) => void,
    unchanged: ReadonlySet<string> = new Set(),
  ) => {
    const owned = Map.groupBy(known, ({ organizationId }) => organizationId);
    const stored = manifest.organizations
      .filter(({ organizationId }) => !unchanged.has(organizationId))
      .map((one) => storedOrganization(one, history, owned.get(one.organizationId) ?? []));
    let parts = partsOf(stored);
    for (const [i, one] of stored.entries()) {
      try {
        read(one, parts);
      } catch (error) {
        if (!(error instanceof OtherHistory)) throw error;
        const inMemory = one.inMemory.map((list) => ({ ...list, history: undefined }));
        const whole = storedOrganization(one.organization, history, inMemory);
        parts = partsOf([whole, ...stored.slice(i + 1)]);
        read(whole, parts);
      }
    }
  };
  try {
    const { known = [], same } =
      options.admit?.(manifest, (lists) => {
        let bytes = 0;
        readAll(lists, (one, parts) => {
          const deletions = Array.from(takeDeletions(parts));
          const copied = IN_LOAD_ORDER.map((layout) =>
            bytesToCopy(storedList(one, layout, parts, deletions)),
          );
          bytes += copied.reduce((sum, more) => sum + more, 0);
        });
        return bytes;
      }) ?? {};
    const unchanged = unchangedOf(manifest, history, same, hasChanges);
    const total = recordsIn(manifest);
    let done = 0;
    const load = (one: StoredOrganization, parts: Iterator<Part>) => {
      const onBlock = recordCounter(total, options.onProgress, done);
      onOrganization(readOrganization(one, parts, history, options, onBlock));
      done += recordsIn({ organizations: [one.organization] });
    };
    readAll(known, load, unchanged);
    if (unchanged.size === 0) return manifest;
    const { digest, lineage, since, until } = history;
    const organizationIds = [...unchanged];
    return { ...manifest, unchanged: { organizationIds, history: { digest, lineage, since, until } } };
  } catch (error) {
    throw asRefusal(error);
  }
}

/** The forms of records that serving only copies. */
const COPIED_FORMS: Partial<Record<CollectionName, RecordForm>> = {
  tickets: STORED_TICKET,
  orders: STORED_ORDER,
};

function readOrganization(
  one: StoredOrganization,
  parts: Iterator<Part>,
  { digest, lineage }: FileHistory,
  { isThorough = false }: ReadOptions,
  onBlock: ReturnType<typeof recordCounter>,
): LoadedImage {
  const { organization, range, lists: declared, inMemory } = one;
  const { since, until } = range;
  const { organizationId } = organization;
  const deletions = Array.from(takeDeletions(parts));
  const stored = (layout: CollectionLayout): StoredList => {
    const list = storedList(one, layout, parts, deletions);
    const blocks = isThorough ? checkRecords(list, COPIED_FORMS[layout.name]) : list.blocks;
    const read = function* () {
      for (const block of blocks) {
        yield block;
        onBlock(block);
      }
    };
    return { ...list, blocks: read() };
  };
  // In load order.
  const tickets = loadOrContinue(stored(TICKETS));
  const orders = loadOrContinue(stored(ORDERS));
  // A response adds fields to an event, and partial views search the text of an offer.
  const events = loadOrContinue(stored(EVENTS), STORED_EVENT);
  const { schedule, ...sessions } = loadSessions(stored(SESSIONS), events.image);
  const offers = loadOrContinue(stored(OFFERS), STORED_OFFER);
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
  const changes = loadDeletions(deletions, loaded, since);
  const history = sizedImage({
    name: 'history' as const,
    digest,
    since,
    until,
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

/**
 * Returns a function that counts the records of each block that was read, and reports them.
 * @param records number of those before
 */
export function recordCounter(total: number, onProgress?: OnProgress, records = 0) {
  return ({ layout, count }: Pick<Block, 'layout' | 'count'>): void => {
    records += count;
    onProgress?.(records, total, layout.name);
  };
}
