import type Database from 'better-sqlite3';
import type { CollectionName } from '../../contract/operations.ts';
import type { Instant } from '../../contract/timestamp.ts';
import { findRow } from '../../store/index/id-index.ts';
import { instantImage } from '../../store/index/instant-index.ts';
import { sizedImage } from '../../store/memory/image-memory.ts';
import { sharedUint32s } from '../../store/memory/shared-arrays.ts';
import { recordsImage } from '../../store/records.ts';
import { contentOf, keyOf, type KnownContent } from '../../store/registry/store-view.ts';
import {
  byList,
  type ChangesImage,
  type HistoryImage,
  lineageOf,
  listOf,
  NO_SCHEDULE,
  type OrganizationImage,
} from '../../store/organization-image.ts';
import {
  byCollection,
  EVENTS,
  type CollectionLayout,
  layoutsOf,
  OFFERS,
  ORDERS,
  SESSIONS,
  TICKETS,
} from '../format/layout.ts';
import {
  type Deletion,
  instantOf,
  listDigest,
  type Manifest,
  manifestDigest,
  type ManifestOrganization,
  readDeletions,
  recordsIn,
  type RunEntry,
} from '../format/manifest.ts';
import { inconsistent } from '../format/refused-snapshot.ts';
import { asRefusal, openSnapshot } from '../format/snapshot-file.ts';
import { checkRecords, loadCollection, type LoadedCollection, type StoredList } from './collection-loader.ts';
import { type RecordForm, STORED_EVENT, STORED_OFFER, STORED_ORDER, STORED_TICKET } from './record-form.ts';
import { RunReader } from './run-reader.ts';
import { loadSessions } from './sessions-loader.ts';

/** Called after each run with the number of records that were read, of those to read, and with the list of the run. */
export type OnProgress = (records: number, total: number, list: CollectionName) => void;

export interface ReadOptions {
  /** Called with the manifest before any content is read. Returns what is in memory; throws to refuse the snapshot. */
  readonly admit?: (manifest: Manifest) => KnownContent;
  readonly onProgress?: OnProgress | undefined;
  /** Whether to check also the sums of digests, and the records that serving only copies: tickets and orders. */
  readonly isThorough?: boolean | undefined;
  /** The `recordsSum` by digest of runs that a thorough read has parsed before. Of these, only the digest is checked. */
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
  onOrganization: (image: OrganizationImage) => void,
): Manifest {
  using snapshot = openSnapshot(path);
  const { database, manifest } = snapshot;
  const content = options.admit?.(manifest) ?? contentOf([]);
  try {
    const reader = new RunReader(database);
    const snapshots = [...manifest.ancestors, manifest].map(
      (one) => [one.snapshotId, instantOf(one.producedAt)] as const,
    );
    const [since, until] = [snapshots[0][1], instantOf(manifest.producedAt)];
    const known = {
      digest: manifestDigest(manifest),
      lineage: lineageOf(snapshots),
      since,
      until,
      content,
    };
    const onRun = runCounter(recordsIn(manifest), options.onProgress);
    for (const organization of manifest.organizations)
      onOrganization(readOrganization(database, reader, organization, known, options, onRun));
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

interface Known extends Pick<HistoryImage, 'digest' | 'lineage' | 'since' | 'until'> {
  readonly content: KnownContent;
}

function readOrganization(
  database: Database.Database,
  reader: RunReader,
  organization: ManifestOrganization,
  { digest, lineage, since: earliest, until, content }: Known,
  { isThorough = false, parsedRuns }: ReadOptions,
  onRun: ReturnType<typeof runCounter>,
): OrganizationImage {
  const { organizationId, runs } = organization;
  const began = instantOf(organization.since);
  const range = { since: earliest > began ? earliest : began, until };
  const known = byList((name) => {
    const digest = listDigest(runs, name);
    return { digest, image: content.lists.get(keyOf(organizationId, { name, digest })) };
  });
  const stored = (layout: CollectionLayout): StoredList => {
    const entries = runs[layout.name];
    const read = function* () {
      for (const entry of entries) {
        const run = reader.read(layout, organizationId, entry);
        yield run;
        if (isThorough && parsedRuns?.get(entry.digest) !== entry.recordsSum)
          checkRecords(run, COPIED_FORMS[layout.name]);
        run.release();
        onRun(layout, entry);
      }
    };
    const { image } = known[listOf(layout.name)];
    return { layout, organizationId, entries, runs: read(), knownRuns: content.runs, known: image, range };
  };
  // The largest collections come first: their build memory is released before the others are read.
  const tickets = loadCollection(stored(TICKETS));
  const orders = loadCollection(stored(ORDERS));
  // A response adds fields to an event, and partial views search the text of an offer.
  const events = loadCollection(stored(EVENTS), STORED_EVENT);
  const { schedule, ...sessions } = loadSessions(stored(SESSIONS), events.image);
  const offers = loadCollection(stored(OFFERS), STORED_OFFER);
  const scheduled = { ...events, image: { ...events.image, instants: { startAt: schedule.startAt } } };
  const loaded = { events: scheduled, sessions, tickets, orders, offers };
  const lists = byList((name) => {
    const { digest, image } = known[name];
    return (
      image ??
      sizedImage({
        name,
        digest,
        collections: Object.fromEntries(
          layoutsOf(name).map((layout) => [layout.name, loaded[layout.name].image]),
        ),
        schedule: name === 'events' ? schedule : NO_SCHEDULE,
        uses: sharedUint32s(2),
      })
    );
  });
  const changes = loadDeletions(readDeletions(database, organization, until), loaded, range.since);
  const history = sizedImage({
    name: 'history' as const,
    digest,
    ...range,
    changes,
    uses: sharedUint32s(2),
  });
  return { organizationId, lists, history: { ...history, lineage } };
}

/** Loads the deletions of an organization with its other changes. Refuses one of a record of the content. */
function loadDeletions(
  deletions: Iterable<Deletion>,
  loaded: Readonly<Record<CollectionName, LoadedCollection>>,
  since: Instant,
): HistoryImage['changes'] {
  const found = byCollection((): Deletion[] => []);
  for (const deletion of deletions) {
    const { collection, id, instant } = deletion;
    const { ids, records } = loaded[collection].image;
    if (findRow(ids, records, id) >= 0)
      throw inconsistent(`the deletion of "${id}" of ${collection} is of a record that the snapshot holds`);
    if (instant > since) found[collection].push(deletion);
  }
  return byCollection(({ name }) => ({ changed: loaded[name].changed, deleted: imageOf(found[name]) }));
}

function imageOf(deletions: readonly Deletion[]): ChangesImage['deleted'] {
  const { sorted, rows } = instantImage(BigInt64Array.from(deletions, ({ instant }) => instant));
  return { sorted, ids: recordsImage(Array.from(rows, (i) => JSON.stringify(deletions[i].id))) };
}

/** Returns a function that counts the records of each run that was read, and reports them. */
export function runCounter(total: number, onProgress?: OnProgress) {
  let records = 0;
  return ({ name }: CollectionLayout, { recordCount }: RunEntry): void => {
    records += recordCount;
    onProgress?.(records, total, name);
  };
}
