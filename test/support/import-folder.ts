import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildOptions } from '../../src/snapshot/builder/build-options.ts';
import { type BuildReport, buildSnapshot } from '../../src/snapshot/builder/build-snapshot.ts';
import { readSnapshot } from './read-snapshot.ts';
import type { CollectionName } from '../../src/contract/operations.ts';
import { COLLECTION_NAMES } from '../../src/contract/resources.ts';
import { byCollection } from '../../src/snapshot/format/layout.ts';
import {
  type CollectionImage,
  collectionOf,
  type OrganizationImage,
  type SnapshotImage,
} from '../../src/store/organization-image.ts';
import { recordAt } from '../../src/store/records.ts';

export type FileName = 'organizations' | 'events' | 'sessions' | 'tickets' | 'orders' | 'offers';
export type ImportRecord = Readonly<Record<string, unknown>>;
/** An object, or text or bytes written unchanged. */
type Line = ImportRecord | string | Buffer;
/** Lines by file. */
export type Import = Partial<Readonly<Record<FileName | 'deletions', readonly Line[]>>>;
/** An import, and other entries of its folder: text or bytes by name. */
export type Files = Import | Readonly<Record<string, readonly Line[] | string | Buffer>>;

export function toLine(line: Line): string | Buffer {
  return typeof line === 'string' || Buffer.isBuffer(line) ? line : JSON.stringify(line);
}

/** Returns the bytes of a file with these lines, each with a newline. */
export function toFile(lines: readonly Line[]): Buffer {
  return Buffer.concat(lines.flatMap((line) => [Buffer.from(toLine(line)), Buffer.from('\n')]));
}

/** Writes an import folder. */
export function writeImport(folder: string, files: Files): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries<readonly Line[] | string | Buffer>(files)) {
    if (typeof content === 'string' || Buffer.isBuffer(content)) writeFileSync(join(folder, name), content);
    else writeFileSync(join(folder, `${name}.ndjson`), toFile(content));
  }
}

export const PRODUCED_AT = new Date('2026-11-21T12:00:00Z');

export function build(
  input: string,
  output: string,
  options: Partial<BuildOptions> = {},
): Promise<BuildReport> {
  return buildSnapshot({ input, output, producedAt: PRODUCED_AT, ...options });
}

/** Builds a snapshot file of an import, whose folder is beside the file. */
export function buildFile(
  files: Files,
  output: string,
  options: Partial<BuildOptions> = {},
): Promise<BuildReport> {
  writeImport(`${output}-import`, files);
  return build(`${output}-import`, output, options);
}

export interface Built {
  /** The path of the snapshot. */
  readonly file: string;
  readonly report: BuildReport;
  readonly image: SnapshotImage;
}

/** Builds a snapshot of an import in a new folder, and reads it. */
export async function builtFrom(
  folder: string,
  files: Files,
  options: Partial<BuildOptions> = {},
): Promise<Built> {
  writeImport(folder, files);
  const file = join(folder, 'snapshot.sqlite');
  const report = await build(folder, file, options);
  return { file, report, image: readSnapshot(file) };
}

/** The image of an organization, and its collections by name. */
export type OrganizationContent = OrganizationImage & Readonly<Record<CollectionName, CollectionImage>>;

export function contentOf(image: OrganizationImage): OrganizationContent {
  return { ...image, ...byCollection(({ name }) => collectionOf(image, name)) };
}

export function organizationOf({ organizations }: SnapshotImage, id: string): OrganizationContent {
  const found = organizations.find(({ organizationId }) => organizationId === id);
  if (found === undefined) throw new Error(`no organization ${id}`);
  return contentOf(found);
}

/** Returns the digests of the lists of each organization as a text, by its id. */
export function digestsOf({ organizations }: SnapshotImage): Record<string, string> {
  const digestOf = ({ lists }: OrganizationImage) =>
    Object.values(lists)
      .map(({ digest }) => digest)
      .join();
  return Object.fromEntries(organizations.map((one) => [one.organizationId, digestOf(one)]));
}

/** Returns the JSON texts of a collection, in list order. */
export function textsOf({ count, records }: CollectionImage): string[] {
  return Array.from({ length: count }, (_, row) => recordAt(records, row).toString());
}

/** Returns the records of a collection by id. */
export function recordsOf(collection: CollectionImage): Map<string, ImportRecord> {
  return new Map(
    textsOf(collection).map((text) => {
      const record = JSON.parse(text) as ImportRecord;
      return [String(Object.values(record)[0]), record];
    }),
  );
}

/** A record as a copy in SQLite holds it. */
export interface CopiedRecord {
  readonly collection: string;
  readonly id: string;
  /** Of a session, whose body lacks it. */
  readonly event_id: string | null;
  /** JSON. */
  readonly body: string;
}

/** Returns the records that a copy of an organization holds. */
export function copiedRecords(image: OrganizationImage): CopiedRecord[] {
  const content = contentOf(image);
  const eventIds = [...recordsOf(content.events).keys()];
  const { eventOf } = content.lists.events.schedule;
  return COLLECTION_NAMES.flatMap((collection) =>
    Array.from(recordsOf(content[collection]), ([id, record], row) => ({
      collection,
      id,
      event_id: collection === 'sessions' ? eventIds[eventOf[row]] : null,
      body: JSON.stringify(record),
    })),
  );
}
