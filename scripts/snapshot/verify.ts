import type { Command } from 'commander';
import { recordsIn } from '../../src/snapshot/format/manifest.ts';
import { readOrganizations } from '../../src/snapshot/load/read-snapshot.ts';
import { reviewSnapshot } from '../../src/snapshot/builder/review-snapshot.ts';
import { JSON_OPTION, Refused } from '../run-command.ts';
import { count, timeSpan } from '../terminal/units.ts';
import { printResult, printWarnings, readFile, REFUSED_BY_STRICT, STRICT_OPTION } from './snapshot-file.ts';

export function addVerify(program: Command): void {
  program
    .command('verify')
    .description('Runs all checks that the loader runs before a snapshot goes live, and shows warnings.')
    .argument('<file>', 'snapshot file')
    .option(...STRICT_OPTION)
    .option(...JSON_OPTION)
    .action(verify);
}

function verify(file: string, { strict, json }: { strict?: true; json?: true }): void {
  const began = performance.now();
  const manifest = readFile(file, 'checking', (onProgress) =>
    // The images of the organizations are dropped one by one.
    readOrganizations(file, { onProgress, isThorough: true }, () => undefined),
  );
  const warnings = readFile(file, 'reviewing', (onProgress) => reviewSnapshot(file, onProgress));
  if (!json) printWarnings(warnings);
  if (strict && warnings.length > 0) throw new Refused(`${file}: ${REFUSED_BY_STRICT}`, { file, warnings });

  const { snapshotId, producedAt, organizations } = manifest;
  const records = recordsIn(manifest);
  const milliseconds = performance.now() - began;
  printResult(json, {
    file,
    snapshotId,
    producedAt,
    more: { organizations: organizations.length, records, warnings, seconds: milliseconds / 1000 },
    line: `sound, checked in ${timeSpan(milliseconds)}`,
    shown: { organizations: count(organizations.length), records: count(records) },
  });
}
