import { statSync } from 'node:fs';
import { imageBytes } from '../store/image-bytes.ts';
import type { OrganizationImage, SnapshotImage } from '../store/organization-image.ts';
import { CollectionLoader } from './collection-loader.ts';
import { ContentFile } from './content-file.ts';
import { EVENTS, OFFERS, ORDERS, SESSIONS, TICKETS } from './layout.ts';
import { readManifest } from './manifest.ts';
import type { Manifest, ManifestOrganization } from './manifest.ts';
import { readContent } from './read-content.ts';
import type { OnProgress } from './read-content.ts';
import type { Chunk } from './read-table.ts';
import { eventsByStart, SessionsLoader } from './sessions-loader.ts';
import { asRefusal, openSnapshot } from './snapshot-file.ts';

interface ReadOptions {
  /** Called once with what the snapshot says of itself, before its content is read; throws to refuse it. */
  readonly admit?: (manifest: Manifest) => void;
  /** Called with each organization as soon as it is read and found sound, whatever becomes of the next. */
  readonly onOrganization?: (image: OrganizationImage) => void;
  /** Called now and then with how many rows of an organization's table were read so far. */
  readonly onProgress?: OnProgress | undefined;
}

/**
 * Reads a snapshot file into shared memory and checks all that it says of itself: header, schema, counts, order,
 * distinct ids, and the digest of every organization over the very bytes that are then served.
 * @throws RefusedSnapshot with the reason
 */
export function readSnapshot(path: string, options: ReadOptions = {}): SnapshotImage {
  const { admit, onOrganization, onProgress } = options;
  const database = openSnapshot(path);
  let file: ContentFile | undefined;
  try {
    const manifest = readManifest(database, statSync(path).size);
    admit?.(manifest);
    const content = (file = new ContentFile(database));
    const { snapshotId, producedAt, organizations } = manifest;
    const images = organizations.map((organization) => {
      const image = readOrganization(content, organization, onProgress);
      onOrganization?.(image);
      return image;
    });
    return { snapshotId, producedAt, organizations: images };
  } catch (error) {
    throw asRefusal(error);
  } finally {
    file?.close();
    database.close();
  }
}

function readOrganization(
  file: ContentFile,
  organization: ManifestOrganization,
  onProgress: OnProgress | undefined,
): OrganizationImage {
  const collections = [EVENTS, TICKETS, ORDERS, OFFERS].map((layout) => ({
    layout,
    loader: new CollectionLoader(layout, organization),
  }));
  const [events, tickets, orders, offers] = collections.map(({ loader }) => loader);
  const sessions = new SessionsLoader(organization, events.count);

  const takers = new Map<string, (chunk: Chunk) => void>([
    [
      SESSIONS.table,
      (chunk) => {
        sessions.take(chunk);
      },
    ],
  ]);
  for (const { layout, loader } of collections) {
    takers.set(layout.table, (chunk) => {
      loader.takeRecords(chunk);
    });
    for (const relation of layout.relations) {
      takers.set(relation.table, (chunk) => {
        loader.takeRelation(relation, chunk);
      });
    }
  }

  readContent(file, organization, takers, onProgress);
  const sessionsImage = sessions.finish();
  const content = {
    organizationId: organization.organizationId,
    name: organization.name,
    digest: organization.digest,
    events: { ...events.finish(), instants: eventsByStart(sessionsImage) },
    sessions: sessionsImage,
    tickets: tickets.finish(),
    orders: orders.finish(),
    offers: offers.finish(),
  };
  return { ...content, bytesHeld: imageBytes(content) };
}
