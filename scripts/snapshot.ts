import { commandLine, runCommand } from './run-command.ts';
import { addBuild } from './snapshot/build.ts';
import { addDiff } from './snapshot/diff.ts';
import { addInspect } from './snapshot/inspect.ts';
import { addPlan } from './snapshot/plan.ts';
import { addPublish } from './snapshot/publish.ts';
import { addTidy } from './snapshot/tidy.ts';
import { addVerify } from './snapshot/verify.ts';

const program = commandLine(
  'snapshot',
  'Builds, checks, compares, publishes and distributes snapshot files.',
);
for (const add of [addBuild, addVerify, addInspect, addPublish, addTidy, addDiff, addPlan]) add(program);

/** Runs the command line. Returns the exit status. */
export function main(argv: readonly string[]): Promise<number> {
  return runCommand(program, argv);
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
