import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { KEEP_CHANGES_DAYS } from '../../src/snapshot/builder/staging/earlier-snapshot.ts';
import { type BuildReport, buildSnapshot } from '../../src/snapshot/builder/build-snapshot.ts';
import {
  IMPORT_FILES,
  listImport,
  UnreadableImport,
} from '../../src/snapshot/builder/import/import-files.ts';
import { describeGroup, ImportRejected } from '../../src/snapshot/builder/staging/rejections.ts';
import { SuspectImport } from '../../src/snapshot/builder/review-snapshot.ts';
import { NotPublished, publishedName } from '../../src/snapshot/publish/publish-snapshot.ts';
import { aheadOfClock } from '../../src/snapshot/format/succession.ts';
import { RefusedSnapshot } from '../../src/snapshot/format/refused-snapshot.ts';
import { duration, INSTANT_FORM, instantMs } from '../times.ts';
import { Interruption } from '../interruption.ts';
import { JSON_OPTION, Refused } from '../run-command.ts';
import { print, printable, warn } from '../terminal/print.ts';
import { Progress } from '../terminal/progress.ts';
import { indented, left, right, table } from '../terminal/table.ts';
import { count, timeSpan } from '../terminal/units.ts';
import { tidyUp } from './tidy.ts';
import { DESCEND, NO_DESCENDANT, notPublished, SHRINK_OPTION, snapshotFolder } from './publish.ts';
import { printResult, printWarnings, REFUSED_BY_STRICT, STRICT_OPTION } from './snapshot-file.ts';

interface BuildChoices {
  readonly input: string;
  readonly base?: string;
  readonly output?: string;
  readonly publish?: string;
  readonly allowShrink?: true;
  readonly previous?: string;
  readonly keepChanges?: number;
  readonly asOf?: Date;
  readonly allowFuture?: true;
  readonly holdBack?: string;
  readonly tidy: boolean;
  readonly strict?: true;
  readonly json?: true;
}

export function addBuild(program: Command): void {
  program
    .command('build')
    .description('Builds a snapshot file from an import folder.')
    .requiredOption('--input <dir>', `import folder: ${IMPORT_FILES.join(', ')}, each .ndjson or .ndjson.gz`)
    .option('--output <file>', 'snapshot file to write')
    .option('--publish <name>', 'publish the snapshot under this name, in place of --output', snapshotName)
    .option(
      '--base <file>',
      'earlier snapshot to which the import is applied: changed records, and deletions.ndjson',
    )
    .option(
      '--as-of <when>',
      'time of the export, ISO 8601, later than that of the earlier snapshot (default: now)',
      exportTime,
    )
    .option('--allow-future', 'permit --as-of more than 5 minutes ahead of the clock')
    .option('--previous <file>', 'earlier snapshot with which a whole export is compared to find changes')
    .option(
      '--keep-changes <DURATION>',
      `with --base or --previous: time for which changes and deletions are known (default: ${KEEP_CHANGES_DAYS}d)`,
      duration,
    )
    .option(
      '--hold-back <file>',
      'leave organizations with bad records or losses as they are in the earlier snapshot, and list them in a file',
    )
    .option('--no-tidy', 'leave grown changes to: snapshot tidy --grown')
    .option(...SHRINK_OPTION)
    .option(...STRICT_OPTION)
    .option(...JSON_OPTION)
    .action(build);
}

/** Parses the name of a published snapshot. */
function snapshotName(text: string): string {
  try {
    return publishedName(text, text);
  } catch (error) {
    throw error instanceof NotPublished ? new InvalidArgumentError(error.message) : error;
  }
}

/** Parses the time of an export. */
function exportTime(text: string): Date {
  const ms = instantMs(text);
  if (ms === undefined) throw new InvalidArgumentError(`It must be ${INSTANT_FORM}.`);
  return new Date(ms);
}

async function build(options: BuildChoices, command: Command): Promise<void> {
  const { input, base, previous } = options;
  if ((options.output === undefined) === (options.publish === undefined))
    command.error('error: specify either --output or --publish');
  if (base !== undefined && previous !== undefined)
    command.error('error: --base and --previous exclude each other: a base is the previous snapshot');
  if (!options.allowFuture && options.asOf && aheadOfClock(options.asOf.toISOString(), Date.now()))
    command.error('error: --as-of must not be in the future: it is the time of the export (--allow-future)');
  const earlier = base ?? previous;
  if (options.allowShrink && options.publish === undefined && earlier === undefined)
    command.error('error: --allow-shrink requires --base, --previous or --publish');
  if (options.keepChanges !== undefined && earlier === undefined)
    command.error('error: --keep-changes requires --base or --previous');
  const { output, permits } = placeOf(options);
  const began = performance.now();
  using interruption = new Interruption('no snapshot was written');
  using progress = new Progress();
  try {
    checkPaths(input, output, options.holdBack);
    if (options.holdBack !== undefined && [output, earlier].includes(options.holdBack))
      throw new Refused(`--hold-back ${options.holdBack}: must name another file than a snapshot`);
    if (earlier !== undefined && !existsSync(earlier)) throw new Refused(`${earlier}: no such file`);
    if (base !== undefined) checkChanges(input);
    const report = await buildSnapshot({
      input,
      base,
      previous,
      keepChangesMs: options.keepChanges,
      output,
      permits,
      holdBack: options.holdBack,
      allowShrink: options.allowShrink === true,
      isStrict: options.strict === true,
      producedAt: options.asOf ?? new Date(),
      signal: interruption.signal,
      onProgress: ({ step, list, records, share }) => {
        progress.show(`${step === 'read' ? 'reading' : 'writing'} ${list}, ${count(records)} records`, share);
      },
    });
    progress.clear();
    printBuild({ ...options, output }, report, performance.now() - began);
    if (permits !== undefined && options.tidy) await tidyUp(output, interruption.signal);
  } catch (error) {
    progress.clear();
    if (error instanceof ImportRejected) throw rejection(error, input);
    if (error instanceof SuspectImport) {
      const { warnings } = error;
      printWarnings(warnings);
      throw new Refused(`${input}: ${REFUSED_BY_STRICT}; no snapshot was written`, { file: input, warnings });
    }
    if (error instanceof UnreadableImport)
      throw new Refused(`${input}: ${error.message}; no snapshot was written`, { file: input });
    if (error instanceof NotPublished) throw notPublished(error, 'no snapshot was written', output);
    if (error instanceof RefusedSnapshot) {
      const { message, reason } = error;
      const file = earlier ?? output;
      throw new Refused(`${file}: ${message}; no snapshot was written`, { file, reason });
    }
    throw error;
  }
}

/** Returns the file to write, and the permits of one that is published. */
function placeOf({ output = '', publish, allowShrink }: BuildChoices) {
  if (publish === undefined) return { output };
  return { output: join(snapshotFolder(), publish), permits: allowShrink ? (['shrink'] as const) : [] };
}

/** Prints the report of a build, as text or as one JSON object. */
function printBuild(
  options: BuildChoices & { readonly output: string },
  report: BuildReport,
  milliseconds: number,
): void {
  const { output, json } = options;
  const { snapshotId, producedAt, organizations, records } = report;
  printResult(json, {
    file: output,
    snapshotId,
    producedAt,
    more: {
      organizations,
      records,
      changes: report.changes,
      history: report.history ?? null,
      dropped: Object.fromEntries(report.dropped),
      heldBack: report.heldBack,
      unread: report.unread,
      warnings: report.warnings,
      isDescendant: report.isDescendant,
      seconds: milliseconds / 1000,
    },
    line: `built${options.publish === undefined ? '' : ' and published'} in ${timeSpan(milliseconds)}`,
  });
  if (json) return;
  const counts = Object.entries({ organizations, ...records }).map(([name, value]) => [name, count(value)]);
  print(`\n${indented(table([left(''), right('')], counts))}`);
  const notes = notesOn(options, report);
  if (notes.length > 0) print(`\n${indented(notes.map(printable).join('\n'))}`);
  for (const { organizationId, reason } of report.heldBack) warn(`held back: ${organizationId}: ${reason}`);
  printWarnings(report.warnings);
  if (report.isDescendant === false) warn(`warning: ${NO_DESCENDANT}${DESCEND}`);
}

/** Returns the lines of a report that most builds lack. */
function notesOn({ base }: Parameters<typeof printBuild>[0], report: BuildReport): string[] {
  const { changes, history, unread, dropped } = report;
  const notes: string[] = [];
  if (changes !== undefined) {
    notes.push(
      `changes to ${base}: ${count(changes.replaced)} replaced, ${count(changes.added)} added, ${count(changes.deleted)} deleted`,
    );
    if (changes.withoutRecord > 0)
      notes.push(`deletions of records that it does not have: ${count(changes.withoutRecord)}`);
  }
  if (history === undefined) notes.push('history: starts over, so that every integrator copies all records');
  else {
    const { snapshots, changed, deleted } = history;
    notes.push(
      `history: ${count(changed)} records changed, ${count(deleted)} gone; earlier snapshots: ${count(snapshots)}`,
    );
  }
  for (const entry of unread) notes.push(`not read: ${entry}`);
  for (const [field, times] of dropped)
    notes.push(`dropped, not in the specification: ${field} (${count(times)} times)`);
  return notes;
}

/** Prints the problems of an import. Returns the refusal. */
function rejection(error: ImportRejected, input: string): Refused {
  const { misnamed, groups } = error;
  for (const line of misnamed) warn(line);
  for (const group of groups) warn(describeGroup(group));
  return new Refused(`${input}: ${error.message}; no snapshot was written`, {
    file: input,
    misnamed,
    rejected: error.total,
    problems: groups,
  });
}

/** Refuses an import folder without any import file, which is probably the wrong folder. */
function checkChanges(input: string): void {
  const { files, misnamed } = listImport(input);
  if (files.size > 0 || misnamed.length > 0) return;
  throw new Refused(`${input}: contains none of ${IMPORT_FILES.map((name) => `${name}.ndjson`).join(', ')}`);
}

function checkPaths(input: string, output: string, holdBack = output): void {
  if (!existsSync(input) || !statSync(input).isDirectory()) throw new Refused(`${input}: not a folder`);
  if (output === '' || output.endsWith('/')) throw new Refused(`--output "${output}": must name a file`);
  for (const file of [output, holdBack]) {
    const folder = dirname(file);
    if (!existsSync(folder))
      throw new Refused(`${folder}: no such folder for ${file === output ? 'the output' : '--hold-back'}`);
    if (!statSync(folder).isDirectory()) throw new Refused(`${folder}: not a folder`);
    if (existsSync(file) && !statSync(file).isFile()) throw new Refused(`${file}: not a regular file`);
  }
}
