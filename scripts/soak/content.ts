import { join } from 'node:path';
import type { CollectionName } from '../../src/contract/operations.ts';
import { buildSnapshot } from '../../src/snapshot/builder/build-snapshot.ts';
import { readOrganizations } from '../../src/snapshot/load/read-snapshot.ts';
import {
  type CollectionImage,
  collectionOf,
  type OrganizationImage,
} from '../../src/store/organization-image.ts';
import { recordAt } from '../../src/store/records.ts';
import { DEFAULT_SAMPLE } from '../sample/sample-options.ts';
import { writeSample } from '../sample/write-sample.ts';

/** The snapshots of a soak, and the records that the replica must serve from each. */

const VARIANTS = 4;
const TICKETS = 3000;
/** Additional tickets of each variant. The same seed with another number gives other records. */
const MORE_TICKETS = 150;
const PRODUCED_AT = new Date('2026-11-21T12:00:00Z');
const OLDER = new Date('2026-11-20T12:00:00Z');

/** A record of a snapshot. */
export interface StoredRecord {
  readonly id: string;
  /** The JSON text that is served. An event is served with further fields, which depend on the time. */
  readonly text: string;
  /** The fields, and the `eventId` of a session. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The records of an organization, in list order. */
export type Content = Readonly<Record<CollectionName, readonly StoredRecord[]>>;

/** A snapshot file with its content, by organization id. */
export interface Variant {
  readonly path: string;
  readonly snapshotId: string;
  readonly contents: ReadonlyMap<string, Content>;
}

/** Returns the content of an organization. */
export function contentIn({ contents }: Variant, organizationId: string): Content {
  const content = contents.get(organizationId);
  if (content === undefined) throw new Error(`no organization ${organizationId}`);
  return content;
}

/** Snapshots of the same age, so that each may replace each other, and one that is older. */
export interface SoakContent {
  readonly variants: readonly Variant[];
  readonly older: Variant;
}

/** Builds the snapshots of a soak in a folder. */
export async function buildContent(folder: string, seed: number): Promise<SoakContent> {
  const variants: Variant[] = [];
  for (let i = 0; i <= VARIANTS; i++) {
    const input = join(folder, `import-${i}`);
    const output = join(folder, `variant-${i}`);
    await writeSample({ ...DEFAULT_SAMPLE, tickets: TICKETS + i * MORE_TICKETS, seed, output: input });
    const producedAt = i < VARIANTS ? PRODUCED_AT : OLDER;
    await buildSnapshot({ input, output, skipInvalid: false, producedAt });
    variants.push(readVariant(output));
  }
  return { variants: variants.slice(0, VARIANTS), older: variants[VARIANTS] };
}

function readVariant(path: string): Variant {
  const contents = new Map<string, Content>();
  const { snapshotId } = readOrganizations(path, {}, (image) => {
    contents.set(image.organizationId, contentOf(image));
  });
  return { path, snapshotId, contents };
}

function contentOf(image: OrganizationImage): Content {
  const { eventOf } = image.lists.events.schedule;
  const of = (name: CollectionName) => collectionOf(image, name);
  const parse = (text: string) => JSON.parse(text) as StoredRecord['fields'];
  const events = recordsOf(of('events'), parse);
  return {
    events,
    sessions: recordsOf(of('sessions'), (text, row) => ({
      ...parse(text),
      eventId: events[eventOf[row]].id,
    })),
    tickets: recordsOf(of('tickets'), parse),
    orders: recordsOf(of('orders'), parse),
    offers: recordsOf(of('offers'), parse),
  };
}

function recordsOf(
  { count, records }: CollectionImage,
  parse: (text: string, row: number) => StoredRecord['fields'],
): StoredRecord[] {
  return Array.from({ length: count }, (_, row) => {
    const text = recordAt(records, row).toString();
    const fields = parse(text, row);
    return { id: String(Object.values(fields)[0]), text, fields };
  });
}
