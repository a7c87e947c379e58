import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { COLLECTIONS } from '../format/layout.ts';
import { totalCounts } from '../format/manifest.ts';
import { contentOf, newHiddenPath, type Present, presentAt } from '../format/replace-file.ts';
import { covers, snapshotOf } from '../format/open-snapshot.ts';
import { asRefusal, type OpenFile, openFile } from '../format/snapshot-file.ts';
import { lossesOf } from '../format/succession.ts';
import { inTurns, makeWhole } from '../write/make-whole.ts';
import { newDatabase } from '../write/new-file.ts';
import type { BuildOptions } from './build-options.ts';
import { isOfOneRecord, type Warning } from './import/rules.ts';
import { DELETIONS_FILE, type ImportFolder, listImport, UnreadableImport } from './import/import-files.ts';
import { Comparison } from './merge/comparison.ts';
import { SnapshotWriter } from './merge/snapshot-writer.ts';
import { placeOutput, refusedOutput } from './place-output.ts';
import { EarlierSnapshot } from './staging/earlier-snapshot.ts';
import { reviewSnapshot, SuspectImport } from './review-snapshot.ts';
import { type Findings, readImport } from './staging/read-import.ts';
import type { Staging } from './staging/staging.ts';
import { warningsOfUtc } from './staging/warnings.ts';

export type BuildReport = Awaited<ReturnType<typeof buildSnapshot>>;

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
  const former = presentAt(output);
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
  former: Present,
  findings: Findings,
) {
  const { output, allowShrink = false, isStrict = false } = options;
  const { held } = findings;
  using database = newDatabase(join(folder, 'staging.sqlite'));
  const path = options.base ?? options.previous;
  using earlier = path === undefined ? undefined : new EarlierSnapshot(path, options);
  const staging = await readImport(options, input, folder, database, earlier, findings);
  if (staging === undefined) return undefined;
  const file = join(folder, earlier === undefined ? 'snapshot.sqlite' : 'changes.sqlite');
  const comparison = earlier && new Comparison(staging, earlier);
  const written = await writeSnapshot(file, options, staging, earlier, comparison);
  using opened = openFile(file, earlier !== undefined);
  const { manifest } = opened;
  const losses = allowShrink || !comparison ? [] : lossesOf(comparison.expected, manifest);
  const { size } = held;
  for (const { organizationId, refusal } of losses) {
    if (options.holdBack === undefined) throw refusedOutput(output, refusal);
    held.set(organizationId, { organizationId, reason: refusal.message });
  }
  if (held.size > size) return undefined;
  const isOfFormer =
    options.permits !== undefined && earlier !== undefined && former.content === contentOf(earlier.manifest);
  const complete = await completeFile(file, options, opened, earlier, isOfFormer);
  const { rejections } = staging;
  const ofLines = [...rejections.suspects.values(), ...warningsOfUtc(database, input)];
  const warnings = [...ofLines, ...reviewRecords(complete, options, staging)];
  if (isStrict && warnings.length > 0) throw new SuspectImport(warnings);
  const heldBack = [...held.values()].sort((a, b) => (a.organizationId < b.organizationId ? -1 : 1));
  const isOfChanges = earlier !== undefined && complete === file;
  const placed = await placeOutput(complete, isOfChanges, manifest, options, heldBack, former, isOfFormer);
  return {
    ...written,
    ...placed,
    records: totalCounts(manifest),
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

/** Writes all records, or with an earlier snapshot the changes since its whole file. Returns facts for the report. */
async function writeSnapshot(
  file: string,
  options: BuildOptions,
  staging: Staging,
  earlier: EarlierSnapshot | undefined,
  comparison: Comparison | undefined,
) {
  const { signal, onProgress, permits = [] } = options;
  const { ids, names } = staging;
  const producedAt = options.producedAt.toISOString();
  const total = ids.count('import');
  let written = 0;
  using writer = new SnapshotWriter(file, names, producedAt, earlier);
  for (const layout of COLLECTIONS) {
    const { name: list } = layout;
    let records = 0;
    for (const count of writer.write(layout, staging.records(layout), comparison)) {
      records += count;
      written += count;
      onProgress?.({ step: 'written', list, records, share: written / Math.max(written, total) });
      await setImmediate();
      signal?.throwIfAborted();
    }
  }
  const snapshotId = randomUUID();
  const ancestors = earlier?.ancestorsOfNext ?? [];
  const epoch = earlier?.manifest.epoch ?? randomUUID();
  const changesSince = earlier?.snapshot.whole.manifest.producedAt ?? '';
  const header = { snapshotId, producedAt, epoch, changesSince, permits, ancestors };
  await inTurns(writer.finish(header, comparison), signal);
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
  if (comparison === undefined || earlier?.isBase !== true) return { snapshotId, producedAt, history };
  /** Number of records that the import changed in the base. */
  const changes = {
    added: ids.count('import') - comparison.replaced,
    replaced: comparison.replaced,
    deleted: comparison.deleted,
    /** Deletions of records that the base does not have. */
    withoutRecord: ids.count('deletion') - comparison.requested,
  };
  return { snapshotId, producedAt, history, changes };
}

/**
 * Returns the file to put into place: the changes if they continue those of what is published. Else that is a whole file
 * with an epoch of its own, to which no earlier changes apply.
 */
async function completeFile(
  file: string,
  { isStrict = false, signal }: BuildOptions,
  changes: OpenFile,
  earlier: EarlierSnapshot | undefined,
  isOfFormer: boolean,
): Promise<string> {
  if (earlier === undefined) return file;
  const { isBase } = earlier;
  const { whole } = earlier.snapshot;
  // A strict build reviews one file.
  if (isOfFormer && isBase && !isStrict && covers(changes.manifest, whole.manifest)) return file;
  const path = join(dirname(file), 'snapshot.sqlite');
  await inTurns(makeWhole(snapshotOf(whole, changes), path, randomUUID()), signal);
  return path;
}

function reviewRecords(file: string, options: BuildOptions, staging: Staging): Warning[] {
  // Only an import of all records has the warnings of the file.
  if (options.base === undefined) return staging.warnings();
  return options.isStrict === true ? reviewSnapshot(file) : staging.warnings(isOfOneRecord);
}
