import { imageBytes } from '../store/image-bytes.ts';
import type { OrganizationImage } from '../store/organization-image.ts';
import { CollectionLoader } from './collection-loader.ts';
import type { ContentFile } from './content-file.ts';
import type { TableDigest } from './content-hash.ts';
import { CONTENT_TABLES } from './format.ts';
import { EVENTS, OFFERS, ORDERS, SESSIONS, TICKETS } from './layout.ts';
import type { CollectionLayout } from './layout.ts';
import type { ManifestOrganization } from './manifest.ts';
import { checkDigest, readContent } from './read-content.ts';
import type { OnProgress } from './read-content.ts';
import type { Chunk } from './read-table.ts';
import { eventsByStart, SessionsLoader } from './sessions-loader.ts';

/**
 * An organization is read in two parts, the tickets and the rest: of a large one at the same time, by two threads, since
 * the tickets are more than half of the work.
 */
export const PARTS = ['tickets', 'rest'] as const;
export type Part = (typeof PARTS)[number];

type Tickets = Pick<OrganizationImage, 'tickets'>;
type Rest = Pick<OrganizationImage, 'events' | 'sessions' | 'orders' | 'offers'>;

/** What a part is made into, and what of its tables goes into the digest of the organization. */
export interface PartImage {
  readonly tables: ReadonlyMap<string, TableDigest>;
  readonly content: Tickets | Rest;
}

/** A part whose tables are read, and whose indexes are not yet built. */
interface Reading<Content> {
  readonly tables: ReadonlyMap<string, TableDigest>;
  readonly finish: () => Content;
}

type Takers = Map<string, (chunk: Chunk) => void>;

/** @throws RefusedSnapshot */
export function readOrganization(
  file: ContentFile,
  organization: ManifestOrganization,
  onProgress?: OnProgress,
): OrganizationImage {
  const rest = readRest(file, organization, onProgress);
  const tickets = readTickets(file, organization, onProgress);
  checkDigest(organization, new Map([...rest.tables, ...tickets.tables]));
  return imageOf(organization, { ...rest.finish(), ...tickets.finish() });
}

/** Reads a part alone: it counts only when it is joined with the other. */
export function readPart(
  file: ContentFile,
  organization: ManifestOrganization,
  part: Part,
  onProgress?: OnProgress,
): PartImage {
  const read = part === 'tickets' ? readTickets : readRest;
  const { tables, finish } = read(file, organization, onProgress);
  return { tables, content: finish() };
}

/** @throws RefusedSnapshot when they are not what was digested */
export function joinParts(organization: ManifestOrganization, a: PartImage, b: PartImage): OrganizationImage {
  checkDigest(organization, new Map([...a.tables, ...b.tables]));
  const content = { ...a.content, ...b.content };
  if (!('tickets' in content && 'events' in content)) throw new TypeError('a part twice');
  return imageOf(organization, content);
}

function imageOf(
  { organizationId, name, digest }: ManifestOrganization,
  content: Tickets & Rest,
): OrganizationImage {
  return { organizationId, name, digest, ...content, bytesHeld: imageBytes(content) };
}

function readTickets(
  file: ContentFile,
  organization: ManifestOrganization,
  onProgress?: OnProgress,
): Reading<Tickets> {
  const tickets = new CollectionLoader(TICKETS, organization);
  const takers: Takers = new Map(takersOf(TICKETS, tickets));
  const tables = readTables(file, organization, takers, onProgress);
  return { tables, finish: () => ({ tickets: tickets.finish() }) };
}

function readRest(
  file: ContentFile,
  organization: ManifestOrganization,
  onProgress?: OnProgress,
): Reading<Rest> {
  const events = new CollectionLoader(EVENTS, organization);
  const sessions = new SessionsLoader(organization, events.count);
  const orders = new CollectionLoader(ORDERS, organization);
  const offers = new CollectionLoader(OFFERS, organization);
  const takers: Takers = new Map([
    ...takersOf(EVENTS, events),
    ...takersOf(ORDERS, orders),
    ...takersOf(OFFERS, offers),
  ]);
  takers.set(SESSIONS.table, (chunk) => {
    sessions.take(chunk);
  });
  const tables = readTables(file, organization, takers, onProgress);
  return {
    tables,
    finish: () => {
      const sessionsImage = sessions.finish();
      return {
        events: { ...events.finish(), instants: eventsByStart(sessionsImage) },
        sessions: sessionsImage,
        orders: orders.finish(),
        offers: offers.finish(),
      };
    },
  };
}

function takersOf(layout: CollectionLayout, loader: CollectionLoader): [string, (chunk: Chunk) => void][] {
  return [
    [
      layout.table,
      (chunk) => {
        loader.takeRecords(chunk);
      },
    ],
    ...layout.relations.map((relation): [string, (chunk: Chunk) => void] => [
      relation.table,
      (chunk) => {
        loader.takeRelation(relation, chunk);
      },
    ]),
  ];
}

function readTables(
  file: ContentFile,
  organization: ManifestOrganization,
  takers: Takers,
  onProgress?: OnProgress,
): ReadonlyMap<string, TableDigest> {
  const tables = CONTENT_TABLES.filter(({ name }) => takers.has(name));
  return readContent(file, organization, tables, takers, onProgress);
}
