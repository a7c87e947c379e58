import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { CONFIG_VARIABLES, readConfig } from '../src/config.ts';
import { parseTimestamp } from '../src/contract/timestamp.ts';
import { NotLater } from '../src/snapshot/build/earlier-snapshot.ts';
import {
  buildSnapshot,
  KEEP_DELETIONS_DAYS,
  rejectsPath,
  SuspectImport,
} from '../src/snapshot/build/build-snapshot.ts';
import { IMPORT_FILES, listImport, UnreadableImport } from '../src/snapshot/build/import-files.ts';
import type { BadLineLimit } from '../src/snapshot/build/read-import.ts';
import { describeGroup, ImportRejected } from '../src/snapshot/build/rejections.ts';
import { declaredCounts, PERMITS, rowCount } from '../src/snapshot/format/manifest.ts';
import { RefusedSnapshot } from '../src/snapshot/format/refused-snapshot.ts';
import { inspectSnapshot, type OnProgress, readSnapshot } from '../src/snapshot/load/read-snapshot.ts';
import { NotPublished, publishedName, publishSnapshot } from '../src/snapshot/publish/publish-snapshot.ts';
import { reviewSnapshot } from '../src/snapshot/review/review-snapshot.ts';
import { describeWarning, type Warning } from '../src/snapshot/review/review.ts';
import { diffSnapshots } from './diff/diff-snapshots.ts';
import { printDiff } from './diff/print-diff.ts';
import { duration } from './duration.ts';
import { Interruption } from './interruption.ts';
import { Refused, runCommand } from './run-command.ts';
import { terminalProgress } from './terminal-progress.ts';

/** Bad lines that --skip-invalid omits at most, unless --max-invalid is given. */
const DEFAULT_LIMIT: BadLineLimit = { percent: 1 };
/** Time by which an export may be ahead of the clock of this machine. */
const CLOCK_SKEW_MS = 5 * 60_000;
const STRICT_HELP = 'refuse records that look wrong instead of warning';
const REFUSED_BY_STRICT = '--strict refuses records that look wrong';

const program = new Command('snapshot').description('Builds, checks, compares and publishes snapshot files.');

program
  .command('build')
  .description('Build a snapshot file from an import folder.')
  .requiredOption('--input <dir>', `import folder: ${IMPORT_FILES.join(', ')}, each .ndjson or .ndjson.gz`)
  .requiredOption('--output <file>', 'snapshot file to write, such as data/snapshots/NAME.sqlite')
  .option(
    '--base <file>',
    'earlier snapshot to which the import is applied: changed records, and deletions.ndjson',
  )
  .option(
    '--as-of <when>',
    'time of the export, ISO 8601, later than that of the earlier snapshot (default: now)',
    exportTime,
  )
  .option('--previous <file>', 'earlier snapshot with which a whole export is compared to find deletions')
  .option(
    '--keep-deletions <DURATION>',
    `with --base or --previous: time for which the snapshot holds a deletion (default: ${KEEP_DELETIONS_DAYS}d)`,
    duration,
  )
  .option('--skip-invalid', 'omit bad lines, and write them to FILE.rejects.ndjson', false)
  .option(
    '--max-invalid <limit>',
    'with --skip-invalid: fail if more lines are bad, N or P% of all lines (default: 1%)',
    parseLimit,
  )
  .option('--strict', STRICT_HELP, false)
  .action(build);

program
  .command('verify')
  .description('Run all checks that the loader runs before a snapshot goes live, and show warnings.')
  .argument('<file>', 'snapshot file')
  .option('--strict', STRICT_HELP, false)
  .action(verify);

program
  .command('inspect')
  .description('Show the organizations, record counts and warnings of a snapshot file.')
  .argument('<file>', 'snapshot file')
  .action(inspect);

program
  .command('publish')
  .description(
    'Verify a copy of a snapshot file and put it into SNAPSHOT_DIR atomically, replacing a file of the same name.',
  )
  .argument('<file>', 'snapshot file')
  .option('--as <name>', 'name to publish under, if not the name of the file')
  .option('--rollback', 'permit this snapshot to go live although it is older', false)
  .option(
    '--allow-shrink',
    'permit it to go live although an organization or half of a collection is missing',
    false,
  )
  .action(publish);

program
  .command('diff')
  .description('Show the differences between two snapshot files: organizations, counts and ids.')
  .argument('<before>', 'earlier snapshot file')
  .argument('<after>', 'later snapshot file')
  .option('--all', 'show all ids, not only the first 20 of each kind', false)
  .option('--json', 'print one JSON object, with all ids', false)
  .action(diff);

/** Runs the command line. Returns the exit status. */
export function main(argv: readonly string[]): Promise<number> {
  return runCommand(program, argv);
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));

/** Parses a number of lines, or a percentage of them. */
function parseLimit(text: string): BadLineLimit {
  const [, number, percent] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text) ?? [];
  const limit = Number(number);
  if (percent === '%' && limit <= 100) return { percent: limit };
  if (percent === '' && Number.isSafeInteger(limit)) return { lines: limit };
  throw new InvalidArgumentError('It must be a number of lines, or a percentage of them such as 1%.');
}

interface BuildChoices {
  readonly input: string;
  readonly base?: string;
  readonly output: string;
  readonly previous?: string;
  readonly keepDeletions?: number;
  readonly asOf?: Date;
  readonly skipInvalid: boolean;
  readonly maxInvalid?: BadLineLimit;
  readonly strict: boolean;
}

async function build(options: BuildChoices, command: Command): Promise<void> {
  const {
    input,
    base,
    previous,
    keepDeletions,
    output,
    asOf,
    skipInvalid,
    maxInvalid = DEFAULT_LIMIT,
  } = options;
  if (options.maxInvalid && !skipInvalid) command.error('error: --max-invalid requires --skip-invalid');
  if (base !== undefined && previous !== undefined)
    command.error('error: --base and --previous exclude each other: a base is the previous snapshot');
  const earlier = base ?? previous;
  if (keepDeletions !== undefined && earlier === undefined)
    command.error('error: --keep-deletions requires --base or --previous');
  const progress = terminalProgress();
  const done = new Map<string, string>();
  const started = performance.now();
  using interruption = new Interruption('no snapshot was written');
  try {
    checkPaths(input, output);
    if (earlier !== undefined && !existsSync(earlier)) throw new Refused(`${earlier}: no such file`);
    if (base !== undefined) checkChanges(input);
    const report = await buildSnapshot({
      input,
      base,
      previous,
      keepDeletionsMs: keepDeletions,
      output,
      skipInvalid,
      maxInvalid,
      isStrict: options.strict,
      producedAt: asOf ?? new Date(),
      signal: interruption.signal,
      onProgress: (step, collection, records) => {
        done.set(step, `${collection} ${step}: ${records.toLocaleString('en')}`);
        progress.show([...done.values()].join(', '));
      },
    });
    progress.clear();
    const seconds = (performance.now() - started) / 1000;
    console.log(
      `${output}: snapshot ${report.snapshotId}, ${megabytes(report.fileBytes)}, built in ${seconds.toFixed(1)} s`,
    );
    console.log(`  organizations: ${report.organizations}`);
    for (const [name, count] of Object.entries(report.records)) console.log(`  ${name}: ${count}`);
    if (report.changes !== undefined) {
      const { replaced, added, deleted, withoutRecord, runs } = report.changes;
      console.log(`  changes to ${base}: ${replaced} replaced, ${added} added, ${deleted} deleted`);
      if (withoutRecord > 0) console.log(`  deletions of records that it does not have: ${withoutRecord}`);
      console.log(`  runs: ${runs.copied} copied, ${runs.written} written`);
    }
    if (report.deletions !== undefined)
      console.log(`  deletions: ${report.deletions.total} (${report.deletions.added} new)`);
    for (const entry of report.unread) console.log(`  not read: ${entry}`);
    for (const [field, count] of report.dropped)
      console.log(`  dropped, not in the specification: ${field} (${count} times)`);
    if (report.rejected > 0)
      console.log(`  omitted: ${report.rejected} bad lines, see ${rejectsPath(output)}`);
    printWarnings(report.warnings);
  } catch (error) {
    progress.clear();
    if (error instanceof ImportRejected) {
      for (const line of error.misnamed) console.error(line);
      for (const group of error.groups) console.error(describeGroup(group));
      const advice = skipInvalid ? '--max-invalid sets the limit' : '--skip-invalid omits bad lines';
      throw new Refused(
        `${input}: ${error.message}; no snapshot was written${error.areLinesOmissible ? ` (${advice})` : ''}`,
      );
    }
    if (error instanceof SuspectImport) {
      printWarnings(error.warnings);
      throw new Refused(`${input}: ${REFUSED_BY_STRICT}; no snapshot was written`);
    }
    if (error instanceof UnreadableImport)
      throw new Refused(`${input}: ${error.message}; no snapshot was written`);
    if (error instanceof NotLater || error instanceof RefusedSnapshot)
      throw new Refused(`${earlier}: ${error.message}; no snapshot was written`);
    throw error;
  }
}

/** Parses the time of an export. */
function exportTime(text: string): Date {
  const instant = parseTimestamp(text);
  if (instant === undefined) {
    throw new InvalidArgumentError(
      'It must be an ISO 8601 date and time with Z or an offset, such as 2027-01-31T20:00:00+01:00.',
    );
  }
  const time = new Date(Number(instant / 1000n));
  if (time.getTime() > Date.now() + CLOCK_SKEW_MS)
    throw new InvalidArgumentError('It must not be in the future: it is the time of the export.');
  return time;
}

/** Refuses an import folder without any import file, which is probably the wrong folder. */
function checkChanges(input: string): void {
  const { files, misnamed } = listImport(input);
  if (files.size > 0 || misnamed.length > 0) return;
  throw new Refused(`${input}: contains none of ${IMPORT_FILES.map((name) => `${name}.ndjson`).join(', ')}`);
}

function checkPaths(input: string, output: string): void {
  if (!existsSync(input) || !statSync(input).isDirectory()) throw new Refused(`${input}: not a folder`);
  if (!existsSync(dirname(output))) throw new Refused(`${dirname(output)}: no such folder for the output`);
  if (output === '' || output.endsWith('/')) throw new Refused(`--output "${output}": must name a file`);
  if (!statSync(dirname(output)).isDirectory()) throw new Refused(`${dirname(output)}: not a folder`);
  for (const file of [output, rejectsPath(output)]) {
    if (existsSync(file) && !statSync(file).isFile()) throw new Refused(`${file}: not a regular file`);
  }
}

function verify(file: string, { strict }: { strict: boolean }): void {
  const { snapshotId, organizations } = refusing(file, (onProgress) =>
    readSnapshot(file, { onProgress, isThorough: true }),
  );
  const warnings = refusing(file, (onProgress) => reviewSnapshot(file, onProgress));
  printWarnings(warnings);
  if (strict && warnings.length > 0) throw new Refused(`${file}: ${REFUSED_BY_STRICT}`);
  console.log(`${file}: sound, snapshot ${snapshotId}, ${organizations.length} organizations`);
}

function printWarnings(warnings: readonly Warning[]): void {
  for (const warning of warnings) console.error(`warning: ${describeWarning(warning)}`);
}

function inspect(file: string): void {
  const manifest = refusing(file, () => inspectSnapshot(file));
  console.log(
    `${file}: snapshot ${manifest.snapshotId}, produced at ${manifest.producedAt}, ${megabytes(statSync(file).size)}`,
  );
  if (manifest.permits.length > 0) console.log(`  permits: ${manifest.permits.join(', ')}`);
  console.table(
    manifest.organizations.map((organization) => ({
      organization: organization.organizationId,
      name: organization.name,
      ...declaredCounts(organization),
      deletions: rowCount(organization.runs.deletions),
    })),
  );
  printWarnings(refusing(file, (onProgress) => reviewSnapshot(file, onProgress)));
}

async function publish(
  file: string,
  options: { as?: string; rollback: boolean; allowShrink: boolean },
): Promise<void> {
  if (!existsSync(file)) throw new Refused(`${file}: no such file`);
  const progress = readingProgress();
  using interruption = new Interruption('nothing was published');
  try {
    const { path, manifest } = await publishSnapshot({
      file,
      folder: snapshotFolder(),
      name: publishedName(file, options.as),
      permits: PERMITS.filter(
        (permit) => ({ rollback: options.rollback, shrink: options.allowShrink })[permit],
      ),
      signal: interruption.signal,
      ...progress,
    });
    progress.clear();
    const { snapshotId, organizations, permits } = manifest;
    console.log(
      `${path}: published, snapshot ${snapshotId}, ${organizations.length} organizations` +
        (permits.length > 0 ? `, permits: ${permits.join(', ')}` : ''),
    );
  } catch (error) {
    progress.clear();
    if (error instanceof NotPublished) throw new Refused(`${error.message}; nothing was published`);
    throw error;
  }
}

function diff(before: string, after: string, options: { all: boolean; json: boolean }): void {
  const progress = readingProgress();
  try {
    const found = diffSnapshots(before, after, progress.onProgress);
    progress.clear();
    if (options.json) console.log(JSON.stringify(found));
    else printDiff(found, options.all);
  } catch (error) {
    progress.clear();
    throw error instanceof RefusedSnapshot ? new Refused(error.message) : error;
  }
}

/**
 * Returns the folder to publish into. Only the default folder is created if absent: a mistyped SNAPSHOT_DIR would
 * otherwise name a new folder that no replica polls.
 */
function snapshotFolder(): string {
  const folder = readConfig().snapshotDir;
  if (folder === CONFIG_VARIABLES.SNAPSHOT_DIR.default) mkdirSync(folder, { recursive: true });
  if (!existsSync(folder)) {
    throw new Refused(
      `SNAPSHOT_DIR is ${folder}: no such folder; if the name is right, create it: mkdir -p ${folder}`,
    );
  }
  if (!statSync(folder).isDirectory()) throw new Refused(`SNAPSHOT_DIR is ${folder}: not a folder`);
  return folder;
}

/** Returns a display of the progress of reading a snapshot. */
function readingProgress() {
  const progress = terminalProgress();
  return {
    onProgress: (organizationId: string, table: string, rows: number) => {
      progress.show(`${table} of ${organizationId}: ${rows.toLocaleString('en')}`);
    },
    clear: progress.clear.bind(progress),
  };
}

/** Reads a snapshot file with a display of the progress. */
function refusing<T>(file: string, work: (onProgress: OnProgress) => T): T {
  if (!existsSync(file)) throw new Refused(`${file}: no such file`);
  const progress = readingProgress();
  try {
    return work(progress.onProgress);
  } catch (error) {
    if (error instanceof RefusedSnapshot) throw new Refused(`${file}: ${error.message}`);
    throw error;
  } finally {
    progress.clear();
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
