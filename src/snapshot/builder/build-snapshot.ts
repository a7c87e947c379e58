import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { byCollection, COLLECTIONS } from '../format/layout.ts';
import { manifestDigest, type Permit } from '../format/manifest.ts';
import { RefusedSnapshot } from '../format/refused-snapshot.ts';
import { FILE_MODE, newHiddenPath, replaceFile, sync } from '../format/replace-file.ts';
import { asRefusal, identityOf, manifestOf } from '../format/snapshot-file.ts';
import { lossesOf } from '../format/succession.ts';
import { loadSnapshot } from '../load/load-snapshot.ts';
import { inspectSnapshot } from '../load/read-snapshot.ts';
import { checkPublication, NotPublished } from '../publish/publish-snapshot.ts';
import { isOfOneRecord, type Warning } from './import/rules.ts';
import { DELETIONS_FILE, type ImportFolder, listImport, UnreadableImport } from './import/import-files.ts';
import { Comparison } from './merge/comparison.ts';
import { EarlierSnapshot } from './staging/earlier-snapshot.ts';
import { SnapshotWriter } from './merge/snapshot-writer.ts';
import { reviewSnapshot, SuspectImport } from './review-snapshot.ts';
import { type Findings, type ImportOptions, readImport } from './staging/read-import.ts';
import type { HeldBack } from './staging/rejections.ts';
import type { Staging } from './staging/staging.ts';
import { newDatabase } from './staging/staging-file.ts';
import { warningsOfUtc } from './staging/warnings.ts';

export interface BuildOptions extends ImportOptions {
  /** The snapshot that the import changes; undefined when the import has all records. */
  readonly base?: string | undefined;
  /** The snapshot before this one, to find what changed, when the import has all records. */
  readonly previous?: string | undefined;
  /** Time for which changes are kept, in milliseconds; `KEEP_CHANGES_DAYS` by default. */
  readonly keepChangesMs?: number | undefined;
  /** The snapshot file, which may be the base. An existing file is kept until the new one is complete. */
  readonly output: string;
  /** The permits of a snapshot that is published, whose output is in the snapshot folder; undefined for another. */
  readonly permits?: readonly Permit[] | undefined;
  /** Permit that organizations, or more than half of a large collection, vanish without deletions that name them. */
  readonly allowShrink?: boolean;
  /** Refuse records that look wrong, instead of a warning. */
  readonly isStrict?: boolean;
}

export type BuildReport = Awaited<ReturnType<typeof buildSnapshot>>;

export const KEEP_CHANGES_DAYS = 90;

/**
 * Builds a snapshot file from an import folder. It appears atomically under its name.
 *
 * Threads read the lines and temporary files hold the records, so memory use does not grow with their number.
 *
 * With `holdBack`, organizations with bad lines, contradictions or losses keep their earlier state, and the build is made
 * again without what the import has of them.
 *
 * @throws ImportRejected when lines are bad or entries of the folder misnamed, and without an organization. It has the
 *   problems of all files
 * @throws NotPublished when the output has changed since the build began, when records are lost, or when a replica would
 *   refuse the snapshot
 * @throws RefusedSnapshot when the base is not a sound snapshot
 * @throws SuspectImport when records look wrong in a strict build
 * @throws UnreadableImport when a file cannot be read to its end, or needs a base
 */
export async function buildSnapshot(options: BuildOptions) {
  const { output, base } = options;
  const input = listImport(options.input);
  const deletions = input.files.get(DELETIONS_FILE);
  if (deletions !== undefined && base === undefined)
    throw new UnreadableImport(deletions, 'deletions require a base: build with --base FILE');
  const former = identityOf(output);
  const folder = newHiddenPath(output, 'building');
  const findings: Findings = { held: new Map(), removed: new Set() };
  try {
    for (;;) {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { mode: 0o700 });
      const report = await buildOnce(options, input, folder, former, findings);
      if (report !== undefined) return report;
    }
  } catch (error) {
    throw withPlace(error, options);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Builds a snapshot according to the findings. Returns undefined when there are new ones. */
async function buildOnce(
  options: BuildOptions,
  input: ImportFolder,
  folder: string,
  former: string | undefined,
  findings: Findings,
) {
  const { base, output, producedAt, allowShrink = false, isStrict = false } = options;
  const { held } = findings;
  using database = newDatabase(join(folder, 'staging.sqlite'));
  const path = base ?? options.previous;
  using earlier = path === undefined ? undefined : new EarlierSnapshot(path, producedAt, base !== undefined);
  const staging = await readImport(options, input, folder, database, earlier, findings);
  if (staging === undefined) return undefined;
  const file = join(folder, 'snapshot.sqlite');
  const comparison = earlier && new Comparison(staging, earlier);
  const written = await writeSnapshot(file, options, staging, earlier, comparison);
  const losses = allowShrink || !comparison ? [] : lossesOf(comparison.expected, inspectSnapshot(file));
  const { size } = held;
  for (const { organizationId, refusal } of losses) {
    if (options.holdBack === undefined) throw notPublished(output, refusal);
    held.set(organizationId, { organizationId, reason: refusal.message });
  }
  if (held.size > size) return undefined;
  const { rejections } = staging;
  const ofLines = [...rejections.suspects.values(), ...warningsOfUtc(database, input)];
  const warnings = [...ofLines, ...reviewRecords(file, options, staging)];
  if (isStrict && warnings.length > 0) throw new SuspectImport(warnings);
  const heldBack = [...held.values()].sort((a, b) => (a.organizationId < b.organizationId ? -1 : 1));
  const placed = await putIntoPlace(file, options, heldBack, former);
  return {
    ...written,
    ...placed,
    organizations: staging.names.size,
    heldBack,
    /** Number of occurrences of undeclared fields, by file and field. */
    dropped: rejections.dropped,
    /** Those of a build with a base are about lines and changed records, each by itself, unless it is strict. */
    warnings,
    /** Entries of the import folder that were not read. */
    unread: input.unread,
  };
}

function notPublished(output: string, refusal: RefusedSnapshot): NotPublished {
  return new NotPublished(`${output}: ${refusal.message}`, { cause: refusal });
}

/**
 * Names the file and the folder in an error of SQLite or the system, such as that of a full disk. With an earlier
 * snapshot, other errors of SQLite are about that file.
 */
function withPlace(error: unknown, { output, base, previous }: BuildOptions): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  const code = String(error.code);
  if (!('syscall' in error) && !code.startsWith('SQLITE_')) return error;
  if ((base ?? previous) && /^SQLITE_(ERROR|CORRUPT|CONSTRAINT|NOTADB)/.test(code)) return asRefusal(error);
  error.message = `${output}: cannot be built: ${error.message}; check the disk of ${resolve(dirname(output))}, and that of SQLITE_TMPDIR or TMPDIR`;
  return error;
}

async function writeSnapshot(
  file: string,
  options: BuildOptions,
  staging: Staging,
  earlier: EarlierSnapshot | undefined,
  comparison: Comparison | undefined,
) {
  const { signal, onProgress, keepChangesMs = KEEP_CHANGES_DAYS * 86_400_000 } = options;
  const { ids, names } = staging;
  const producedAt = options.producedAt.toISOString();
  const isBase = earlier?.isBase === true;
  // With a base, records that replace others count twice.
  const total = ids.count('import') + (isBase ? earlier.count : 0);
  let written = 0;
  using writer = new SnapshotWriter(file, names, producedAt, earlier);
  const records = byCollection(() => 0);
  for (const layout of COLLECTIONS) {
    const { name: list } = layout;
    const staged = staging.records(layout);
    for (const count of writer.write(layout, staged, comparison)) {
      records[list] += count;
      written += count;
      const share = written / Math.max(written, total);
      onProgress?.({ step: 'written', list, records: records[list], share });
      await pause(signal);
    }
  }
  const ancestors = earlier?.lineage(options.producedAt.getTime() - keepChangesMs) ?? [];
  const finishing = writer.finish(ancestors, options.permits, comparison);
  let step = finishing.next();
  for (; step.done !== true; step = finishing.next()) await pause(signal);
  const snapshotId = step.value;
  /** Undefined without an earlier snapshot: a new history begins. */
  const history = comparison && {
    /** Number of snapshots from which copies can be continued. */
    snapshots: ancestors.length,
    /** Number of records that were added or changed since the earlier snapshot, and of those that are gone. */
    changed: writer.changed,
    deleted: comparison.deleted,
    /** Number of deletions in the snapshot. */
    deletions: writer.deletions,
  };
  if (comparison === undefined || !isBase) return { snapshotId, producedAt, records, history };
  /** Number of records that the import changed in the base. */
  const changes = {
    added: ids.count('import') - comparison.replaced,
    replaced: comparison.replaced,
    deleted: comparison.deleted,
    /** Deletions of records that the base does not have. */
    withoutRecord: ids.count('deletion') - comparison.requested,
  };
  return { snapshotId, producedAt, records, history, changes };
}

/** Lets the event loop handle a pending signal. */
async function pause(signal?: AbortSignal): Promise<void> {
  await setImmediate();
  signal?.throwIfAborted();
}

function reviewRecords(file: string, options: BuildOptions, staging: Staging): Warning[] {
  // Only an import of all records has the warnings of the file.
  if (options.base === undefined) return staging.warnings();
  return options.isStrict === true ? reviewSnapshot(file) : staging.warnings(isOfOneRecord);
}

/** Puts the file in the place of the output. Returns how the snapshot follows a published one. */
async function putIntoPlace(file: string, options: BuildOptions, heldBack: HeldBack[], former?: string) {
  const { output, signal, permits, holdBack } = options;
  await sync(file);
  await checkStored(file, options, options.base ?? (heldBack.length > 0 ? options.previous : undefined));
  chmodSync(file, FILE_MODE);
  // From here on the build cannot be aborted.
  signal?.throwIfAborted();
  let isDescendant: boolean | undefined;
  try {
    replaceFile(output, former, () => {
      if (permits !== undefined) isDescendant = checkPublication(inspectSnapshot(file), output);
      if (holdBack !== undefined) {
        const draft = newHiddenPath(holdBack, 'building');
        writeFileSync(draft, heldBack.map((one) => `${JSON.stringify(one)}\n`).join(''), { mode: FILE_MODE });
        renameSync(draft, holdBack);
      }
      renameSync(file, output);
    });
  } catch (error) {
    if (!(error instanceof RefusedSnapshot)) throw error;
    throw notPublished(output, error);
  }
  await sync(dirname(output));
  return { isDescendant };
}

/**
 * Checks a file with records of an earlier snapshot that is not published: serving them may never have been tried.
 * @param earlier the snapshot of which records were copied
 */
async function checkStored(file: string, options: BuildOptions, earlier: string | undefined): Promise<void> {
  const { output, permits, signal } = options;
  if (permits === undefined || earlier === undefined) return;
  const published = manifestOf(output);
  if (published === undefined || manifestDigest(published) !== manifestDigest(inspectSnapshot(earlier)))
    await loadSnapshot(file, { isThorough: true, signal });
}
