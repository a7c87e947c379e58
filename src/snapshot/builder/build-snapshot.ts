import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { CollectionName } from '../../contract/operations.ts';
import { byCollection, COLLECTIONS, DELETIONS, type ListLayout } from '../format/layout.ts';
import { FILE_MODE, sync } from '../format/snapshot-file.ts';
import { reviewSnapshot } from '../review/review-snapshot.ts';
import type { Warning } from '../review/review.ts';
import { DELETIONS_FILE, listImport, UnreadableImport } from './import/import-files.ts';
import { Comparison, keepDeletions } from './merge/comparison.ts';
import { EarlierSnapshot } from './merge/earlier-snapshot.ts';
import { mergeRecords, type Span } from './merge/merge-records.ts';
import { SnapshotWriter } from './merge/snapshot-writer.ts';
import { stageBase } from './merge/stage-base.ts';
import { checkImport, type Imported, type ImportOptions, readImport } from './staging/read-import.ts';
import { LINKED, Staging } from './staging/staging.ts';
import type { StagedRecord } from './staging/staging-file.ts';

export interface BuildOptions extends ImportOptions {
  /** The snapshot that the import changes; undefined when the import has all records. */
  readonly base?: string | undefined;
  /** The snapshot before this one, to find deletions, when the import has all records. */
  readonly previous?: string | undefined;
  /** Time for which deletions are kept, in milliseconds; `KEEP_DELETIONS_DAYS` by default. */
  readonly keepDeletionsMs?: number | undefined;
  /**
   * The snapshot file, which may be the base. An existing file is kept until the new one is complete.
   * Bad lines that are left out are written to `rejectsPath(output)`.
   */
  readonly output: string;
  /** Refuse records that look wrong, instead of a warning. */
  readonly isStrict?: boolean;
  /** The time of the export. It must be later than that of the base or the previous snapshot. */
  readonly producedAt: Date;
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
  readonly changes: BaseChanges | undefined;
  /** The deletions in the snapshot; undefined without an earlier one to find them. */
  readonly deletions: DeletionCounts | undefined;
  readonly fileBytes: number;
  /** Entries of the import folder that were not read. */
  readonly unread: readonly string[];
}

/** Number of records that an import changed in its base, and of the runs that were written for that. */
export interface BaseChanges {
  readonly added: number;
  readonly replaced: number;
  readonly deleted: number;
  /** Deletions of records that the base does not have. */
  readonly withoutRecord: number;
  readonly runs: SnapshotWriter['runs'];
}

/** Number of deletions in a snapshot. */
export interface DeletionCounts {
  readonly total: number;
  /** Records that the earlier snapshot has and this one lacks. */
  readonly added: number;
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

export const KEEP_DELETIONS_DAYS = 90;
const KEEP_DELETIONS_MS = KEEP_DELETIONS_DAYS * 86_400_000;

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
 * @throws ImportRejected when lines are bad and not skipped, or too many to be skipped, when entries of the folder are
 *   misnamed, and without an organization. It has the problems of all files
 * @throws NotLater
 * @throws RefusedSnapshot when the base is not a sound snapshot
 * @throws SuspectImport when records look wrong in a strict build
 * @throws UnreadableImport when a file cannot be read to its end, or needs a base
 */
export async function buildSnapshot(options: BuildOptions): Promise<BuildReport> {
  const { output, producedAt, skipInvalid, isStrict = false } = options;
  const input = listImport(options.input);
  const deletions = input.files.get(DELETIONS_FILE);
  if (deletions !== undefined && options.base === undefined)
    throw new UnreadableImport(deletions, 'deletions require a base: build with --base FILE');
  const folder = mkdtempSync(`${output}.building-`);
  using cleanup = new DisposableStack();
  cleanup.defer(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  try {
    const staging = new Staging(join(folder, 'staging.sqlite'), skipInvalid);
    cleanup.defer(() => {
      staging.close();
    });
    const earlierPath = options.base ?? options.previous;
    using earlier = earlierPath === undefined ? undefined : new EarlierSnapshot(earlierPath, producedAt);
    const base = options.base === undefined ? undefined : earlier;
    const imported = await readImport(options, input, folder, staging, base?.names);
    const { organizationIds } = imported;
    checkImport(
      options,
      imported,
      staging,
      base && {
        path: base.path,
        stage: (layout) => {
          stageBase(base, layout, organizationIds, staging);
        },
      },
    );
    const file = join(folder, 'snapshot.sqlite');
    const build: Build = { options, staging, earlier, base, imported, file };
    const written = await writeSnapshot(build);
    const warnings = [...imported.notes.warnings, ...reviewRecords(build)];
    if (isStrict && warnings.length > 0) throw new SuspectImport(warnings);
    const fileBytes = statSync(file).size;
    await putIntoPlace(build);
    return {
      ...written,
      organizations: imported.names.size,
      dropped: imported.notes.dropped,
      rejected: staging.rejections.total,
      warnings,
      fileBytes,
      unread: input.unread,
    };
  } catch (error) {
    throw withPlace(error, output);
  }
}

/** Names the file and the folder in an error of SQLite or the system, such as that of a full disk. */
function withPlace(error: unknown, output: string): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  if (!('syscall' in error) && !String(error.code).startsWith('SQLITE_')) return error;
  error.message = `${output}: cannot be built: ${error.message}; check the disk of ${resolve(dirname(output))}, and that of SQLITE_TMPDIR or TMPDIR`;
  return error;
}

/** The context of the steps that follow the import. */
interface Build {
  readonly options: BuildOptions;
  readonly staging: Staging;
  /** The base, or the previous snapshot. */
  readonly earlier: EarlierSnapshot | undefined;
  readonly base: EarlierSnapshot | undefined;
  readonly imported: Imported;
  /** The new snapshot file, in the folder of the temporary files. */
  readonly file: string;
}

/** Writes a file with all records and deletions. */
async function writeSnapshot({
  options,
  staging,
  earlier,
  base,
  imported: { names, organizationIds, linesRead },
  file,
}: Build): Promise<Pick<BuildReport, 'snapshotId' | 'producedAt' | 'records' | 'changes' | 'deletions'>> {
  const { keepDeletionsMs = KEEP_DELETIONS_MS, signal } = options;
  const producedAt = options.producedAt.toISOString();
  const { ids } = staging;
  const writer = new SnapshotWriter(file, names);
  try {
    const comparison = new Comparison(ids, staging.deletions, { isBase: base !== undefined, producedAt });
    const records = byCollection(() => 0);
    // With a base, records that replace others count twice.
    const total = (base?.count(COLLECTIONS) ?? 0) + linesRead - names.size - staging.rejections.total;
    let totalWritten = 0;
    const write = (layout: ListLayout, written: Iterable<StagedRecord | Span>) =>
      writeList(writer, layout, written, signal, (more, ofList) => {
        totalWritten += more;
        const share = totalWritten / Math.max(totalWritten, total);
        options.onProgress?.({ step: 'written', list: layout.name, records: ofList, share });
      });
    for (const layout of COLLECTIONS) {
      const staged = staging.records(layout);
      const runs = earlier?.runs(layout, organizationIds) ?? [];
      if (base !== undefined && !LINKED.includes(layout)) {
        records[layout.name] = await write(layout, mergeRecords(layout, staged, runs, comparison));
        continue;
      }
      for (const run of runs) {
        comparison.compare(layout, run);
        await pause(signal);
      }
      records[layout.name] = await write(layout, staged);
    }
    const { replaced, deleted, requested } = comparison;
    const added = ids.count('import') - replaced;
    const withoutRecord = ids.count('deletion') - requested;
    const changes = base && { replaced, added, deleted, withoutRecord, runs: { ...writer.runs } };
    let deletions: DeletionCounts | undefined;
    if (earlier !== undefined) {
      keepDeletions(earlier, organizationIds, staging, options.producedAt.getTime() - keepDeletionsMs);
      deletions = { total: await write(DELETIONS, staging.deletions.records()), added: deleted };
    }
    const snapshotId = randomUUID();
    await writer.finish(snapshotId, producedAt);
    return { snapshotId, producedAt, records, changes, deletions };
  } finally {
    writer.close();
  }
}

/** Writes a list. Returns the number of its records. */
async function writeList(
  writer: SnapshotWriter,
  layout: ListLayout,
  records: Iterable<StagedRecord | Span>,
  signal: AbortSignal | undefined,
  onWritten: (records: number, ofList: number) => void,
): Promise<number> {
  let count = 0;
  for (const written of writer.write(layout, records)) {
    count += written;
    onWritten(written, count);
    await pause(signal);
  }
  return count;
}

/** Yields to the event loop, so that a pending signal is handled. */
async function pause(signal: AbortSignal | undefined): Promise<void> {
  await setImmediate();
  signal?.throwIfAborted();
}

/** Returns the warnings about the records of a file. */
function reviewRecords({ options, staging, base, imported, file }: Build): Warning[] {
  const { organizationIds, review, badLines } = imported;
  // Only an import of all records has the findings of the file. Those that contradict others are not in it.
  if (base !== undefined) return options.isStrict === true ? reviewSnapshot(file) : [];
  if (staging.rejections.total > badLines) return reviewSnapshot(file);
  return review.finish(organizationIds, (layout, _, line) => staging.recordAt(layout, line));
}

/** Puts the file in the place of the output, and the rejections beside it. */
async function putIntoPlace({ options, staging: { rejections }, file }: Build): Promise<void> {
  const { output, signal } = options;
  chmodSync(file, FILE_MODE);
  const rejects = `${file}.rejects`;
  if (rejections.total > 0) {
    await rejections.write(rejects);
    chmodSync(rejects, FILE_MODE);
  }
  // From here on the build cannot be aborted.
  signal?.throwIfAborted();
  if (rejections.total > 0) renameSync(rejects, rejectsPath(output));
  else rmSync(rejectsPath(output), { force: true });
  renameSync(file, output);
  await sync(dirname(output));
}
