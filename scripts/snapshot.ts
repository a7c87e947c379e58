import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Command } from 'commander';
import { describeRejection, ImportRejected } from '../src/snapshot/build-report.ts';
import { buildSnapshot, NoOrganization, rejectsPath } from '../src/snapshot/build-snapshot.ts';
import { RefusedSnapshot } from '../src/snapshot/refused-snapshot.ts';
import { IMPORT_FILES } from '../src/snapshot/import-files.ts';
import { importFile, UnreadableImport } from '../src/snapshot/import-lines.ts';
import { inspectSnapshot } from '../src/snapshot/inspect-snapshot.ts';
import { readSnapshot } from '../src/snapshot/read-snapshot.ts';
import { runCommand, Refused } from './run-command.ts';
import { terminalProgress } from './terminal-progress.ts';

const program = new Command('snapshot').description('Builds, verifies and inspects snapshot files.');

program
  .command('build')
  .description('Build a snapshot file of an import folder.')
  .requiredOption('--input <dir>', `import folder: ${IMPORT_FILES.join(', ')}, each .ndjson or .ndjson.gz`)
  .requiredOption('--output <file>', 'where the snapshot is to stand, such as data/snapshots/NAME.sqlite')
  .option('--skip-invalid', 'leave bad lines out and write them to FILE.rejects.ndjson', false)
  .action(build);

program
  .command('verify')
  .description('Check everything that is checked before a snapshot goes live.')
  .argument('<file>', 'snapshot file')
  .action(verify);

program
  .command('inspect')
  .description('Show what is inside a snapshot file.')
  .argument('<file>', 'snapshot file')
  .action(inspect);

await runCommand(program);

async function build(options: { input: string; output: string; skipInvalid: boolean }): Promise<void> {
  const { input, output, skipInvalid } = options;
  const progress = terminalProgress();
  const done = new Map<string, string>();
  const started = performance.now();
  try {
    checkPaths(input, output);
    const report = await buildSnapshot({
      input,
      output,
      skipInvalid,
      producedAt: new Date(),
      signal: interruption(),
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
    for (const [field, count] of report.dropped)
      console.log(`  dropped, not in the specification: ${field} (${count} times)`);
    if (report.rejected > 0)
      console.log(`  left out: ${report.rejected} bad lines, see ${rejectsPath(output)}`);
  } catch (error) {
    progress.clear();
    if (error instanceof ImportRejected) {
      for (const rejection of error.first) console.error(describeRejection(rejection));
      if (error.total > error.first.length) console.error(`… and ${error.total - error.first.length} more`);
      throw new Refused(
        `${input}: ${error.message}; no snapshot was written (--skip-invalid leaves them out)`,
      );
    }
    if (error instanceof NoOrganization || error instanceof UnreadableImport)
      throw new Refused(`${input}: ${error.message}; no snapshot was written`);
    throw error;
  }
}

/** Is aborted by the first signal to stop; the next ends the process at once, as it would without this. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      controller.abort(new Refused(`interrupted by ${name}; no snapshot was written`));
    });
  }
  return controller.signal;
}

function checkPaths(input: string, output: string): void {
  if (!existsSync(input) || !statSync(input).isDirectory()) throw new Refused(`${input}: not a folder`);
  if (!IMPORT_FILES.some((name) => importFile(input, name) !== undefined)) {
    throw new Refused(`${input}: holds none of ${IMPORT_FILES.map((name) => `${name}.ndjson`).join(', ')}`);
  }
  if (!existsSync(dirname(output))) throw new Refused(`${dirname(output)}: no such folder for the output`);
  if (output === '' || output.endsWith('/')) throw new Refused(`--output "${output}": must name a file`);
  if (!statSync(dirname(output)).isDirectory()) throw new Refused(`${dirname(output)}: not a folder`);
  for (const file of [output, rejectsPath(output)]) {
    if (existsSync(file) && !statSync(file).isFile()) throw new Refused(`${file}: is not a file`);
  }
}

function verify(file: string): void {
  const progress = terminalProgress();
  const onProgress = (organizationId: string, table: string, rows: number) => {
    progress.show(`${table} of ${organizationId}: ${rows.toLocaleString('en')}`);
  };
  const { snapshotId, organizations } = refusing(file, () => {
    try {
      return readSnapshot(file, { onProgress });
    } finally {
      progress.clear();
    }
  });
  console.log(`${file}: sound, snapshot ${snapshotId}, ${organizations.length} organizations`);
}

function inspect(file: string): void {
  const manifest = refusing(file, () => inspectSnapshot(file));
  console.log(
    `${file}: snapshot ${manifest.snapshotId}, produced at ${manifest.producedAt}, ${megabytes(statSync(file).size)}`,
  );
  console.table(
    manifest.organizations.map(({ organizationId, name, counts }) => ({
      organization: organizationId,
      name,
      ...counts,
    })),
  );
}

function refusing<T>(file: string, work: () => T): T {
  if (!existsSync(file)) throw new Refused(`${file}: no such file`);
  try {
    return work();
  } catch (error) {
    if (error instanceof RefusedSnapshot) throw new Refused(`${file}: ${error.message}`);
    throw error;
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
