import { type BuildReport, rejectsPath } from '../../src/snapshot/builder/build-snapshot.ts';
import { indented, left, printable, right, table } from '../terminal/table.ts';
import { count, timeSpan } from '../terminal/units.ts';
import { printResult, printWarnings } from './snapshot-file.ts';

interface Build {
  readonly output: string;
  readonly base: string | undefined;
  readonly report: BuildReport;
  readonly milliseconds: number;
}

/** Prints the report of a build, as text or as one JSON object. */
export function printBuild(build: Build, json: true | undefined): void {
  const { output, report, milliseconds } = build;
  const { snapshotId, producedAt, organizations, records, rejected } = report;
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
      rejected,
      rejectsFile: rejected > 0 ? rejectsPath(output) : undefined,
      unread: report.unread,
      warnings: report.warnings,
      seconds: milliseconds / 1000,
    },
    line: `built in ${timeSpan(milliseconds)}`,
  });
  if (json) return;
  const counts = Object.entries({ organizations, ...records });
  console.log(
    `\n${indented(
      table(
        [left(''), right('')],
        counts.map(([name, records]) => [name, count(records)]),
      ),
    )}`,
  );
  const notes = notesOn(build);
  if (notes.length > 0) console.log(`\n${indented(notes.map(printable).join('\n'))}`);
  printWarnings(report.warnings);
}

/** Returns the lines of a report that most builds lack. */
function notesOn({ output, base, report }: Build): string[] {
  const { changes, history, unread, dropped, rejected } = report;
  const notes: string[] = [];
  if (changes !== undefined) {
    notes.push(
      `changes to ${base}: ${count(changes.replaced)} replaced, ${count(changes.added)} added, ${count(changes.deleted)} deleted`,
    );
    if (changes.withoutRecord > 0)
      notes.push(`deletions of records that it does not have: ${count(changes.withoutRecord)}`);
    notes.push(`runs: ${count(changes.runs.copied)} copied, ${count(changes.runs.written)} written`);
  }
  if (history === undefined) notes.push('history: begins anew, so that every integrator copies all records');
  else {
    const { snapshots, changed, deleted } = history;
    notes.push(
      `history: ${count(changed)} records changed, ${count(deleted)} gone; earlier snapshots: ${count(snapshots)}`,
    );
  }
  for (const entry of unread) notes.push(`not read: ${entry}`);
  for (const [field, times] of dropped)
    notes.push(`dropped, not in the specification: ${field} (${count(times)} times)`);
  if (rejected > 0) notes.push(`omitted: ${count(rejected)} bad lines, see ${rejectsPath(output)}`);
  return notes;
}
