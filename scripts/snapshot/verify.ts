import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { recordsIn } from '../../src/snapshot/format/manifest.ts';
import { readOrganizations } from '../../src/snapshot/load/read-snapshot.ts';
import { reviewSnapshot } from '../../src/snapshot/builder/review-snapshot.ts';
import { JSON_OPTION, printJson, Refused } from '../run-command.ts';
import { fields } from '../terminal/table.ts';
import { count, size, timeSpan } from '../terminal/units.ts';
import { printWarnings, readFile, REFUSED_BY_STRICT, STRICT_OPTION } from './snapshot-file.ts';

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
  const fileBytes = statSync(file).size;
  const records = recordsIn(manifest);
  const milliseconds = performance.now() - began;
  if (json) {
    const [seconds, held] = [milliseconds / 1000, organizations.length];
    printJson({ file, snapshotId, producedAt, fileBytes, organizations: held, records, warnings, seconds });
    return;
  }
  console.log(`${file}: sound, checked in ${timeSpan(milliseconds)}`);
  console.log(
    fields({
      snapshot: snapshotId,
      'produced at': producedAt,
      size: size(fileBytes),
      organizations: count(organizations.length),
      records: count(records),
    }),
  );
}
