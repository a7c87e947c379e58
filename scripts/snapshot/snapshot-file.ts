import { existsSync, statSync } from 'node:fs';
import type { Manifest } from '../../src/snapshot/format/manifest.ts';
import { changesOf } from '../../src/snapshot/format/open-snapshot.ts';
import { RefusedSnapshot } from '../../src/snapshot/format/refused-snapshot.ts';
import type { OnProgress } from '../../src/snapshot/load/read-snapshot.ts';
import { describeWarning, type Warning } from '../../src/snapshot/builder/import/rules.ts';
import { printJson, Refused } from '../run-command.ts';
import { print, printable, warn } from '../terminal/print.ts';
import { Progress } from '../terminal/progress.ts';
import { fields } from '../terminal/table.ts';
import { count, size } from '../terminal/units.ts';

/** The option of commands that warn about records, and their refusal. */
export const STRICT_OPTION = ['--strict', 'refuse records that look wrong instead of warning'] as const;
export const REFUSED_BY_STRICT = '--strict refuses records that look wrong';

/** Does work on a snapshot file. A refusal names the file. */
export function onFile<T>(file: string, work: () => T): T {
  if (!existsSync(file)) throw new Refused(`${file}: no such file`, { file });
  try {
    return work();
  } catch (error) {
    if (!(error instanceof RefusedSnapshot)) throw error;
    throw new Refused(`${file}: ${error.message}`, { file, reason: error.reason });
  }
}

/** Returns a listener that shows the progress of reading a snapshot. */
export function showing(progress: Progress, activity: string): OnProgress {
  return (records, total, list) => {
    progress.show(`${activity} ${list}, ${count(records)} of ${count(total)} records`, records / total);
  };
}

/** Reads a snapshot file with a display of the progress. */
export function readFile<T>(file: string, activity: string, read: (onProgress: OnProgress) => T): T {
  using progress = new Progress();
  return onFile(file, () => read(showing(progress, activity)));
}

export function printWarnings(warnings: readonly Warning[]): void {
  for (const warning of warnings) warn(`warning: ${describeWarning(warning)}`);
}

interface Result extends Pick<Manifest, 'snapshotId' | 'producedAt'> {
  readonly file: string;
  /** Members of the JSON object besides those that all commands print. */
  readonly more: object;
  /** The first line of the text, after the file, and its further fields. */
  readonly line: string;
  readonly shown?: Readonly<Record<string, string>>;
}

/** Prints the result of a command about a snapshot file: one JSON object, or the beginning of the text. */
export function printResult(json: true | undefined, result: Result): void {
  const { file, snapshotId, producedAt, more, line, shown } = result;
  const fileBytes = statSync(file).size + (statSync(changesOf(file), { throwIfNoEntry: false })?.size ?? 0);
  if (json) printJson({ file, snapshotId, producedAt, fileBytes, ...more });
  else {
    print(printable(`${file}: ${line}`));
    print(fields({ snapshot: snapshotId, 'produced at': producedAt, size: size(fileBytes), ...shown }));
  }
}
