import { imageBytes } from '../../store/memory/image-memory.ts';
import type { OrganizationImage, SnapshotImage } from '../../store/organization-image.ts';
import { type CollectionLayout, EVENTS, OFFERS, ORDERS, SESSIONS, TICKETS } from '../format/layout.ts';
import type { Manifest, ManifestOrganization } from '../format/manifest.ts';
import { asRefusal, openSnapshot } from '../format/snapshot-file.ts';
import { CollectionLoader } from './collection-loader.ts';
import { type Run, RunReader } from './run-reader.ts';
import { eventsByStart, SessionsLoader } from './sessions-loader.ts';

/** Called after each run with the number of records read of the organization's collection. */
export type OnProgress = (organizationId: string, collection: string, records: number) => void;

interface ReadOptions {
  /** Called with the manifest before any content is read; throws to refuse the snapshot. */
  readonly admit?: (manifest: Manifest) => void;
  readonly onProgress?: OnProgress | undefined;
}

/**
 * Reads the manifest of a snapshot file, and none of its content.
 * @throws RefusedSnapshot
 */
export function inspectSnapshot(path: string): Manifest {
  using snapshot = openSnapshot(path);
  return snapshot.manifest;
}

/**
 * Reads a snapshot file into shared memory, and checks it in full.
 * The checks cover header, schema, counts, order of sessions, distinct ids, and the digest of every run.
 * @throws RefusedSnapshot
 */
export function readSnapshot(path: string, options: ReadOptions = {}): SnapshotImage {
  const organizations: OrganizationImage[] = [];
  const { snapshotId, producedAt } = readOrganizations(path, options, (organization) => {
    organizations.push(organization);
  });
  return { snapshotId, producedAt, organizations };
}

/**
 * Reads a snapshot file like `readSnapshot`.
 * Passes each organization to `onOrganization` after it is read, in manifest order.
 * @throws RefusedSnapshot
 */
export function readOrganizations(
  path: string,
  { admit, onProgress }: ReadOptions,
  onOrganization: (organization: OrganizationImage) => void,
): Manifest {
  using snapshot = openSnapshot(path);
  const { database, manifest } = snapshot;
  admit?.(manifest);
  try {
    const reader = new RunReader(database);
    for (const organization of manifest.organizations)
      onOrganization(readOrganization(reader, organization, onProgress));
  } catch (error) {
    throw asRefusal(error);
  }
  return manifest;
}

function readOrganization(
  reader: RunReader,
  organization: ManifestOrganization,
  onProgress?: OnProgress,
): OrganizationImage {
  const { organizationId, contentDigest, runs } = organization;
  const read = <Image>(layout: CollectionLayout, loader: RunLoader<Image>): Image => {
    for (const entry of runs[layout.name]) {
      loader.add(reader.read(layout, organizationId, entry));
      onProgress?.(organizationId, layout.name, entry.firstRow + entry.recordCount);
    }
    return loader.finish();
  };
  // The largest collections come first: their build memory is released before the others are read.
  const tickets = read(TICKETS, new CollectionLoader(TICKETS, runs.tickets));
  const orders = read(ORDERS, new CollectionLoader(ORDERS, runs.orders));
  const events = read(EVENTS, new CollectionLoader(EVENTS, runs.events));
  const sessions = read(SESSIONS, new SessionsLoader(runs.sessions, events));
  const offers = read(OFFERS, new CollectionLoader(OFFERS, runs.offers));
  const content = {
    events: { ...events, instants: eventsByStart(sessions) },
    sessions,
    tickets,
    orders,
    offers,
  };
  return { organizationId, contentDigest, ...content, bytesHeld: imageBytes(content) };
}

interface RunLoader<Image> {
  add(run: Run): void;
  finish(): Image;
}
