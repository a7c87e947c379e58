import { imageBytes } from '../store/image-bytes.ts';
import type { OrganizationImage } from '../store/organization-image.ts';
import { CollectionLoader } from './collection-loader.ts';
import type { ContentFile } from './content-file.ts';
import { joinDigests } from './content-hash.ts';
import type { TableDigest } from './content-hash.ts';
import { CONTENT_TABLES } from './format.ts';
import type { GrowingRecords } from './growing-records.ts';
import { EVENTS, OFFERS, ORDERS, SESSIONS, TICKETS } from './layout.ts';
import type { CollectionLayout } from './layout.ts';
import type { ManifestOrganization } from './manifest.ts';
import { checkDigest, readContent } from './read-content.ts';
import type { OnProgress, TableTaker } from './read-content.ts';
import { RefusedSnapshot } from './refused-snapshot.ts';
import { eventsByStart, SessionsLoader } from './sessions-loader.ts';

type Content = Pick<OrganizationImage, 'events' | 'sessions' | 'tickets' | 'orders' | 'offers'>;

/**
 * An organization is read in parts, one after the other or two at a time. The indexes of one are finished before the
 * next is read, so that what it takes to build them is there once; the largest first, while the others are not there.
 */
export const PARTS = ['tickets', 'orders', 'catalog'] as const;
export type Part = (typeof PARTS)[number];

/** What a part is made into, and what of its tables goes into the digest of the organization. */
export interface PartImage {
  readonly tables: ReadonlyMap<string, TableDigest>;
  readonly content: Partial<Content>;
  /** Why there is no content: what its tables say does not fit together, unless the digest says that they are damaged. */
  readonly refused?: Pick<RefusedSnapshot, 'reason' | 'message'>;
}

type Takers = Iterable<[table: string, taker: TableTaker]>;

/** What takes the tables of a part, and finishes what was taken. */
interface PartLoader {
  readonly takers: Takers;
  readonly finish: () => Partial<Content>;
}

/** @throws RefusedSnapshot */
export function readOrganization(
  file: ContentFile,
  organization: ManifestOrganization,
  onProgress?: OnProgress,
): OrganizationImage {
  const parts = PARTS.map((part) => readPart(file, organization, part, onProgress));
  return joinParts(organization, parts);
}

/** What digests the records of a part as they come, on another thread, which tells what of them goes into the digest. */
export type Digester = (records: GrowingRecords) => void;

/**
 * Reads a part alone: it counts only when it is joined with the others.
 * @param digester of the tickets
 * @throws RefusedSnapshot
 */
export function readPart(
  file: ContentFile,
  organization: ManifestOrganization,
  part: Part,
  onProgress?: OnProgress,
  digester?: Digester,
): PartImage {
  const { takers, finish } = LOADERS[part](organization, digester);
  const takerOf = new Map(takers);
  const read = CONTENT_TABLES.filter(({ name }) => takerOf.has(name));
  const tables = readContent(file, organization, read, takerOf, onProgress);
  try {
    return { tables, content: finish() };
  } catch (error) {
    if (!(error instanceof RefusedSnapshot)) throw error;
    return { tables, content: {}, refused: { reason: error.reason, message: error.message } };
  }
}

/**
 * @param parts with what a digester tells, if there was one, as a part without content
 * @throws RefusedSnapshot when they are not what was digested, or one of them is refused
 */
export function joinParts(
  organization: ManifestOrganization,
  parts: readonly PartImage[],
): OrganizationImage {
  checkDigest(organization, joinDigests(parts.map(({ tables }) => tables)));
  for (const { refused } of parts) {
    if (refused !== undefined) throw new RefusedSnapshot(refused.reason, refused.message);
  }
  const joined = parts.reduce<Partial<Content>>((all, { content }) => ({ ...all, ...content }), {});
  const { events, sessions, tickets, orders, offers } = joined;
  if (!events || !sessions || !tickets || !orders || !offers) throw new TypeError('a part is missing');
  const content = { events, sessions, tickets, orders, offers };
  const { organizationId, name, digest } = organization;
  return { organizationId, name, digest, ...content, bytesHeld: imageBytes(content) };
}

type NewLoader = (organization: ManifestOrganization, digester?: Digester) => PartLoader;

const LOADERS: Readonly<Record<Part, NewLoader>> = {
  tickets: (organization, digester) => {
    const tickets = new CollectionLoader(TICKETS, organization);
    digester?.(tickets.records.growing());
    return { takers: takersOf(TICKETS, tickets), finish: () => ({ tickets: tickets.finish() }) };
  },
  orders: (organization) => {
    const orders = new CollectionLoader(ORDERS, organization);
    return { takers: takersOf(ORDERS, orders), finish: () => ({ orders: orders.finish() }) };
  },
  catalog: (organization) => {
    const events = new CollectionLoader(EVENTS, organization);
    const sessions = new SessionsLoader(organization, events.count);
    const offers = new CollectionLoader(OFFERS, organization);
    return {
      takers: [...takersOf(EVENTS, events), [SESSIONS.table, sessions], ...takersOf(OFFERS, offers)],
      finish: () => {
        const sessionsImage = sessions.finish();
        return {
          events: { ...events.finish(), instants: eventsByStart(sessionsImage) },
          sessions: sessionsImage,
          offers: offers.finish(),
        };
      },
    };
  },
};

function takersOf(layout: CollectionLayout, loader: CollectionLoader): [string, TableTaker][] {
  return [
    [layout.table, loader],
    ...layout.relations.map((relation): [string, TableTaker] => [
      relation.table,
      {
        take: (chunk) => {
          loader.takeRelation(relation, chunk);
        },
      },
    ]),
  ];
}
