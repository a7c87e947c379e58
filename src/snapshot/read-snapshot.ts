import { statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import type { OrganizationImage, SnapshotImage } from '../store/organization-image.ts';
import { CollectionLoader } from './collection-loader.ts';
import { ContentHash } from './content-hash.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import { CONTENT_TABLES } from './format.ts';
import { EVENTS, OFFERS, ORDERS, SESSIONS, TICKETS } from './layout.ts';
import { readManifest } from './manifest.ts';
import type { Manifest, ManifestOrganization } from './manifest.ts';
import { readTable } from './read-table.ts';
import type { Chunk } from './read-table.ts';
import { eventsByStart, SessionsLoader } from './sessions-loader.ts';
import { asRefusal, openSnapshot } from './snapshot-file.ts';

interface ReadOptions {
  /** Called once with what the snapshot says of itself, before its content is read; throws to refuse it. */
  readonly admit?: (manifest: Manifest) => void;
  /** Called now and then with how many rows of an organization's table were read so far. */
  readonly onProgress?: OnProgress;
}

type OnProgress = (organizationId: string, table: string, rows: number) => void;

/**
 * Reads a snapshot file into shared memory and checks all that it says of itself: header, schema, counts, order,
 * distinct ids, and the digest of every organization over the very bytes that are then served.
 * @throws RefusedSnapshot with the reason
 */
export function readSnapshot(path: string, options: ReadOptions = {}): SnapshotImage {
  const { admit, onProgress = () => undefined } = options;
  const database = openSnapshot(path);
  try {
    const manifest = readManifest(database, statSync(path).size);
    admit?.(manifest);
    const { snapshotId, producedAt, organizations } = manifest;
    const images = organizations.map((organization) => readOrganization(database, organization, onProgress));
    return { snapshotId, producedAt, organizations: images };
  } catch (error) {
    throw asRefusal(error);
  } finally {
    database.close();
  }
}

function readOrganization(
  database: Database.Database,
  organization: ManifestOrganization,
  onProgress: OnProgress,
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

  const digest = readContent(database, organization, takers, onProgress);
  if (digest !== organization.digest) {
    throw new RefusedSnapshot(
      'damaged',
      `the content of organization "${organization.organizationId}" does not match its digest: ` +
        'the file is damaged; copy or build it again',
    );
  }
  const sessionsImage = sessions.finish();
  return {
    organizationId: organization.organizationId,
    name: organization.name,
    digest,
    events: { ...events.finish(), instants: eventsByStart(sessionsImage) },
    sessions: sessionsImage,
    tickets: tickets.finish(),
    orders: orders.finish(),
    offers: offers.finish(),
  };
}

/** Hands every chunk of an organization's content to the taker of its table. Returns the digest of all of it. */
function readContent(
  database: Database.Database,
  organization: ManifestOrganization,
  takers: ReadonlyMap<string, (chunk: Chunk) => void>,
  onProgress: OnProgress,
): string {
  const hash = new ContentHash();
  for (const table of CONTENT_TABLES) {
    for (const chunk of readTable(database, table, organization)) {
      takers.get(table.name)?.(chunk);
      hash.add(table.name, chunk.rowCount, [...chunk.columns.values()]);
      onProgress(organization.organizationId, table.name, chunk.firstRow + chunk.rowCount);
    }
  }
  return hash.digest();
}
