import { SingleBar } from 'cli-progress';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { FolderInUse } from '../src/sample/import-folder.ts';
import { DEFAULT_SAMPLE, countFault, dayFault } from '../src/sample/sample-options.ts';
import { writeSample } from '../src/sample/write-sample.ts';

interface Options {
  output: string;
  organizations: number;
  events: number;
  tickets: number;
  seed: number;
  now: string;
}

const program = new Command('sample')
  .description('Write an import folder of realistic made-up data, the same for the same options.')
  .requiredOption(
    '--output <DIR>',
    'folder to write: new, empty, or an earlier import folder, which is replaced',
  )
  .option(
    '--organizations <N>',
    'number of organizations',
    count('organizations'),
    DEFAULT_SAMPLE.organizations,
  )
  .option('--events <N>', 'number of events over all organizations', count('events'), DEFAULT_SAMPLE.events)
  .option('--tickets <N>', 'number of tickets over all events', count('tickets'), DEFAULT_SAMPLE.tickets)
  .option('--seed <N>', 'what chance begins with', count('seed'), DEFAULT_SAMPLE.seed)
  .option('--now <DATE>', 'the day around which the events lie, YYYY-MM-DD', day, DEFAULT_SAMPLE.now)
  .allowExcessArguments(false)
  .exitOverride()
  .action(run);

try {
  await program.parseAsync();
} catch (error) {
  // What is not commander's is a fault of the program itself: let it show its stack.
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}

async function run(options: Options): Promise<void> {
  const bar = process.stderr.isTTY
    ? new SingleBar({ format: '{bar} {value}/{total} tickets, {eta_formatted}' })
    : undefined;
  const began = performance.now();
  bar?.start(options.tickets, 0);
  try {
    const counts = await writeSample({ ...options, onProgress: (tickets) => bar?.update(tickets) });
    bar?.update(counts.tickets);
    bar?.stop();
    const seconds = (performance.now() - began) / 1000;
    const lines = Object.entries(counts).map(
      ([kind, lines]) => `  ${kind.padEnd(14)}${String(lines).padStart(12)}`,
    );
    console.log([`${options.output}: written in ${seconds.toFixed(1)} s`, ...lines].join('\n'));
  } catch (error) {
    bar?.stop();
    if (!(error instanceof FolderInUse || isSystemError(error))) throw error;
    console.error(`error: option '--output': ${error.message}`);
    process.exitCode = 1;
  }
}

function count(name: Parameters<typeof countFault>[0]): (text: string) => number {
  return (text) => {
    // Digits only: Number would take 1e3, 0x10 and blanks.
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    const fault = countFault(name, value);
    if (fault) throw new InvalidArgumentError(`It ${fault}.`);
    return value;
  };
}

function day(text: string): string {
  const fault = dayFault(text);
  if (fault) throw new InvalidArgumentError(`It ${fault}.`);
  return text;
}

/** From the file system, such as a full disk or a folder that may not be written. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}
