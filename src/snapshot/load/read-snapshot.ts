import { imageBytes } from '../../store/memory/image-memory.ts';
import type { OrganizationImage, SnapshotImage } from '../../store/organization-image.ts';
import { type CollectionLayout, EVENTS, OFFERS, ORDERS, SESSIONS, TICKETS } from '../format/layout.ts';
import { type Manifest, type ManifestOrganization, readManifest, type RunEntry } from '../format/manifest.ts';
import { asRefusal, openSnapshot } from '../format/snapshot-file.ts';
import { CollectionLoader } from './collection-loader.ts';
import { type Run, RunReader } from './run-reader.ts';
import { eventsByStart, SessionsLoader } from './sessions-loader.ts';

/** Called after each run with how many records of the organization's collection were read so far. */
export type OnProgress = (organizationId: string, collection: string, records: number) => void;

interface ReadOptions {
  /** Called once with the manifest, before any content is read; throws to refuse it. */
  readonly admit?: (manifest: Manifest) => void;
  readonly onProgress?: OnProgress | undefined;
}

/**
 * Reads a snapshot file into shared memory and checks all that it declares: header, schema, counts, order, distinct
 * ids, and the digest of every run over the very bytes that are then served.
 * @throws RefusedSnapshot with the reason
 */
export function readSnapshot(path: string, options: ReadOptions = {}): SnapshotImage {
  const organizations: OrganizationImage[] = [];
  const { snapshotId, producedAt } = readOrganizations(path, options, (organization) => {
    organizations.push(organization);
  });
  return { snapshotId, producedAt, organizations };
}

/**
 * Reads the same, and hands over each organization once it is read, in the order of the manifest.
 * @throws RefusedSnapshot with the reason
 */
export function readOrganizations(
  path: string,
  { admit, onProgress }: ReadOptions,
  take: (organization: OrganizationImage) => void,
): Manifest {
  const { database, bytes } = openSnapshot(path);
  try {
    const manifest = readManifest(database, bytes);
    admit?.(manifest);
    const reader = new RunReader(database);
    for (const organization of manifest.organizations)
      take(readOrganization(reader, organization, onProgress));
    return manifest;
  } catch (error) {
    throw asRefusal(error);
  } finally {
    database.close();
  }
}

function readOrganization(
  reader: RunReader,
  organization: ManifestOrganization,
  onProgress?: OnProgress,
): OrganizationImage {
  const { organizationId, name, contentDigest, runs } = organization;
  const read = <Image>(layout: CollectionLayout, loader: RunLoader<Image>): Image => {
    for (const entry of runs[layout.name]) {
      loader.take(entry, reader.read(layout, organizationId, entry));
      onProgress?.(organizationId, layout.name, entry.firstRow + entry.recordCount);
    }
    return loader.finish();
  };
  // The largest collections first: what their indexes are built from is released before the others take memory.
  const tickets = read(TICKETS, new CollectionLoader(TICKETS, organization));
  const orders = read(ORDERS, new CollectionLoader(ORDERS, organization));
  const events = read(EVENTS, new CollectionLoader(EVENTS, organization));
  const sessions = read(SESSIONS, new SessionsLoader(organization, events));
  const offers = read(OFFERS, new CollectionLoader(OFFERS, organization));
  const content = {
    events: { ...events, instants: eventsByStart(sessions) },
    sessions,
    tickets,
    orders,
    offers,
  };
  return { organizationId, name, contentDigest, ...content, bytesHeld: imageBytes(content) };
}

interface RunLoader<Image> {
  take(entry: RunEntry, run: Run): void;
  finish(): Image;
}

/**
 * Reads the manifest of a snapshot file, and none of its content.
 * @throws RefusedSnapshot
 */
export function inspectSnapshot(path: string): Manifest {
  const { database, bytes } = openSnapshot(path);
  try {
    return readManifest(database, bytes);
  } catch (error) {
    throw asRefusal(error);
  } finally {
    database.close();
  }
}
