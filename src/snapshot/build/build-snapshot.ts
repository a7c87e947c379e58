import { randomUUID } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { CollectionName } from '../../contract/operations.ts';
import { byCollection, COLLECTIONS, DELETIONS } from '../format/layout.ts';
import { sync } from '../format/snapshot-file.ts';
import { reviewSnapshot } from '../review/review-snapshot.ts';
import { Review, type Warning } from '../review/review.ts';
import { EarlierSnapshot } from './earlier-snapshot.ts';
import type { ChangeCounts } from './changed-ids.ts';
import { findDeletions } from './find-deletions.ts';
import { readDeletions } from './import-deletions.ts';
import {
  DELETIONS_FILE,
  importFile,
  ORGANIZATIONS_FILE,
  UnreadableImport,
  unreadEntries,
} from './import-files.ts';
import { readOrganizations } from './import-organizations.ts';
import { stageImport } from './import-threads.ts';
import { ImportNotes } from './line-notes.ts';
import { BaseMerge } from './merge-base.ts';
import { ImportRejected } from './rejections.ts';
import { SnapshotWriter } from './snapshot-writer.ts';
import { Staging } from './staging.ts';

/** A number of lines, or a share of the lines of all import files. */
export type BadLineLimit = { readonly lines: number } | { readonly percent: number };

export interface BuildOptions {
  /** The import folder. */
  readonly input: string;
  /** The snapshot that the import changes; undefined when the import has all records. */
  readonly base?: string | undefined;
  /** The snapshot before this one, to find deletions, when the import has all records. */
  readonly previous?: string | undefined;
  /** Time for which deletions are kept, in milliseconds; 90 days by default. */
  readonly keepDeletionsMs?: number;
  /** The snapshot file, which may be the base. An existing file is kept until the new one is complete. */
  readonly output: string;
  /** Leave bad lines out and write them to `rejectsPath(output)`, instead of refusing the import. */
  readonly skipInvalid: boolean;
  /** The bad lines that may be left out at most; all by default. */
  readonly maxInvalid?: BadLineLimit;
  /** Refuse records that look wrong, instead of a warning. */
  readonly isStrict?: boolean;
  /** The time of the export. It must be later than that of the base or the previous snapshot. */
  readonly producedAt: Date;
  /** Receives the number of records of a collection that were read or written so far. */
  readonly onProgress?: (step: 'read' | 'written', collection: CollectionName, records: number) => void;
  /** Aborts the build, which then throws the signal's reason and leaves no file behind. */
  readonly signal?: AbortSignal;
}

export interface BuildReport {
  readonly snapshotId: string;
  readonly producedAt: string;
  readonly organizations: number;
  readonly records: Readonly<Record<CollectionName, number>>;
  /** Number of occurrences of undeclared fields, by file and field. */
  readonly dropped: ReadonlyMap<string, number>;
  /** Lines left out; always 0 unless bad lines are skipped. */
  readonly rejected: number;
  /** Those of a build with a base are about lines alone, unless it is strict. */
  readonly warnings: readonly Warning[];
  /** The changes to the base; undefined without one. */
  readonly changes?: BaseChanges;
  /** The deletions in the snapshot; undefined without an earlier one to find them. */
  readonly deletions?: DeletionCounts;
  readonly fileBytes: number;
  /** Entries of the import folder that were not read. */
  readonly unread: readonly string[];
}

/** Number of records that an import changed in its base, and of the runs that were written for that. */
export interface BaseChanges extends ChangeCounts {
  readonly runs: SnapshotWriter['runs'];
}

/** Number of deletions in a snapshot. */
export interface DeletionCounts {
  readonly total: number;
  /** Records that the earlier snapshot has and this one lacks. */
  readonly added: number;
}

/** The import contains no organization, and therefore no record. */
export class NoOrganization extends Error {
  override readonly name = 'NoOrganization';
  constructor() {
    super(`no organization: ${ORGANIZATIONS_FILE}.ndjson must have a line for each organization`);
  }
}

/** The import contains records that look wrong, and no snapshot was written. */
export class SuspectImport extends Error {
  override readonly name = 'SuspectImport';
  readonly warnings: readonly Warning[];

  constructor(warnings: readonly Warning[]) {
    super('the import contains records that look wrong');
    this.warnings = warnings;
  }
}

const KEEP_DELETIONS_MS = 90 * 86_400_000;

/** Returns the path of the file for skipped lines. A build that skips no line removes an earlier such file. */
export function rejectsPath(output: string): string {
  return `${output}.rejects.ndjson`;
}

/**
 * Builds a snapshot file from an import folder.
 *
 * Threads read the lines and temporary files hold the records, so memory use does not grow with their number. The
 * snapshot appears atomically under its name.
 *
 * @throws ImportRejected when lines are bad and not skipped, or too many to be skipped
 * @throws MisnamedFiles before it reads anything
 * @throws NoOrganization
 * @throws NotLater
 * @throws RefusedSnapshot when the base is not a sound snapshot
 * @throws SuspectImport when records look wrong in a strict build
 * @throws UnreadableImport when a file cannot be read to its end, or needs a base
 */
export async function buildSnapshot(options: BuildOptions): Promise<BuildReport> {
  const unread = unreadEntries(options.input);
  const deletions = importFile(options.input, DELETIONS_FILE);
  if (deletions !== undefined && options.base === undefined)
    throw new UnreadableImport(deletions, 'deletions need a snapshot to delete from: build with --base FILE');
  const folder = mkdtempSync(`${options.output}.building-`);
  const staging = new Staging(join(folder, 'staging.sqlite'), options.skipInvalid);
  try {
    return { ...(await build(options, folder, staging)), unread };
  } finally {
    staging.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function build(
  options: BuildOptions,
  folder: string,
  staging: Staging,
): Promise<Omit<BuildReport, 'unread'>> {
  const { input, output, skipInvalid, maxInvalid, isStrict = false, signal, onProgress } = options;
  const { rejections } = staging;
  const notes = new ImportNotes();
  const earlierPath = options.base ?? options.previous;
  using earlier =
    earlierPath === undefined ? undefined : new EarlierSnapshot(earlierPath, options.producedAt);
  const base = options.base === undefined ? undefined : earlier;
  const organizations = await readOrganizations(input, rejections, notes, base?.names);
  if (organizations.names.size === 0 && (skipInvalid || rejections.total === 0)) throw new NoOrganization();
  const organizationIds = [...organizations.names.keys()];
  const onBlock = (collection: CollectionName, records: number) => {
    signal?.throwIfAborted();
    onProgress?.('read', collection, records);
  };
  const badOrganizations = organizations.bad;
  const review = new Review();
  const staged = await stageImport(
    { input, folder, organizationIds, badOrganizations, base, review, notes, onBlock },
    rejections,
  );
  staging.attach(staged.stagingFiles, organizationIds);
  const deletionLines = base === undefined ? 0 : await readDeletions(input, organizationIds, staging);
  const linesRead = organizations.names.size + staged.records + deletionLines + rejections.total;
  if (base !== undefined) staging.applyChanges();
  const badLines = rejections.total;
  staging.rejectContradictions(({ name }) => importFile(input, name) ?? name, base?.path);
  if (rejections.total > 0 && !skipInvalid) throw new ImportRejected(rejections);
  const limit = omissible(linesRead, maxInvalid);
  if (rejections.total > limit) throw new ImportRejected(rejections, { limit, read: linesRead });

  const file = join(folder, basename(output));
  const writer = new SnapshotWriter(file, organizations.names);
  try {
    const merge = base && new BaseMerge(base, organizationIds, staging);
    const records = await writeRecords(writer, merge ?? staging, options);
    const snapshotId = randomUUID();
    const producedAt = options.producedAt.toISOString();
    const changes = base && { ...staging.changes.counts(), runs: { ...writer.runs } };
    const deletions = earlier && (await writeDeletions(writer, staging, earlier, organizationIds, options));
    writer.finish(snapshotId, producedAt);
    const fileBytes = statSync(file).size;
    // Only an import of all records has the findings of the file. Those that contradict others are not in it.
    const found = () => {
      if (base !== undefined) return isStrict ? reviewSnapshot(file) : [];
      if (rejections.total > badLines) return reviewSnapshot(file);
      return review.finish(organizationIds, (layout, _, line) => staging.recordAt(layout, line));
    };
    const warnings = [...notes.warnings, ...found()];
    if (isStrict && warnings.length > 0) throw new SuspectImport(warnings);
    await sync(file);
    const rejects = join(folder, 'rejects');
    if (rejections.total > 0) await rejections.write(rejects);
    // From here on the build cannot be aborted.
    signal?.throwIfAborted();
    if (rejections.total > 0) renameSync(rejects, rejectsPath(output));
    else rmSync(rejectsPath(output), { force: true });
    renameSync(file, output);
    await sync(dirname(output));
    return {
      snapshotId,
      producedAt,
      organizations: organizations.names.size,
      records,
      dropped: notes.dropped,
      rejected: rejections.total,
      warnings,
      ...(changes && { changes }),
      ...(deletions && { deletions }),
      fileBytes,
    };
  } finally {
    writer.close();
  }
}

/** Returns the number of lines that may be omitted. */
function omissible(linesRead: number, limit: BadLineLimit | undefined): number {
  if (limit === undefined) return linesRead;
  return 'lines' in limit ? limit.lines : Math.floor((linesRead * limit.percent) / 100);
}

/** Writes all records. Returns their number by collection. */
async function writeRecords(
  writer: SnapshotWriter,
  source: Pick<Staging, 'records'> | BaseMerge,
  { signal, onProgress }: BuildOptions,
): Promise<BuildReport['records']> {
  const counts = byCollection(() => 0);
  for (const layout of COLLECTIONS) {
    for (const written of writer.write(layout, source.records(layout))) {
      counts[layout.name] += written;
      onProgress?.('written', layout.name, counts[layout.name]);
      // Yields to the event loop, so that a pending signal is handled.
      await setImmediate();
      signal?.throwIfAborted();
    }
  }
  return counts;
}

/** Finds the deletions and writes them. Returns their number. */
async function writeDeletions(
  writer: SnapshotWriter,
  staging: Staging,
  earlier: EarlierSnapshot,
  organizationIds: readonly string[],
  { base, producedAt, keepDeletionsMs = KEEP_DELETIONS_MS, signal }: BuildOptions,
): Promise<DeletionCounts> {
  const deletedAt = producedAt.toISOString();
  const since = BigInt(producedAt.getTime() - keepDeletionsMs) * 1000n;
  const options = { isBase: base !== undefined, organizationIds, producedAt: deletedAt, since };
  findDeletions(earlier, staging, writer, options);
  let total = 0;
  for (const written of writer.write(DELETIONS, staging.deletions.records())) {
    total += written;
    await setImmediate();
    signal?.throwIfAborted();
  }
  return { total, added: staging.deletions.countAt(deletedAt) };
}
