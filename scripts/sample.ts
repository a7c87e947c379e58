import { InvalidArgumentError } from 'commander';
import { isCalendarDate } from '../src/contract/timestamp.ts';
import { commandLine, isSystemError, Refused, runCommand, wholeNumber } from './run-command.ts';
import { FolderInUse } from './sample/import-folder.ts';
import { DEFAULT_SAMPLE, type SampleOptions, writeSample } from './sample/write-sample.ts';
import { print, printable } from './terminal/print.ts';
import { Progress } from './terminal/progress.ts';
import { indented, left, right, table } from './terminal/table.ts';
import { count, timeSpan } from './terminal/units.ts';

const { organizations, events, tickets, seed, now } = DEFAULT_SAMPLE;

const program = commandLine(
  'sample',
  'Writes an import folder of realistic sample data. The same options produce the same data.',
)
  .requiredOption(
    '--output <dir>',
    'output folder: new, empty, or an earlier import folder, which is replaced',
  )
  .option('--organizations <n>', 'number of organizations', wholeNumber(1, 10_000), organizations)
  .option('--events <n>', 'total number of events', wholeNumber(1, 1_000_000), events)
  // Identifiers are unique up to the largest number of tickets.
  .option('--tickets <n>', 'total number of tickets', wholeNumber(1, 1_000_000_000), tickets)
  .option('--seed <n>', 'seed of the random numbers', wholeNumber(0, 0xffff_ffff), seed)
  .option('--now <date>', 'current day in the sample, YYYY-MM-DD', day, now)
  .action(run);

/** Runs the command line. Returns the exit status. */
export function main(argv: readonly string[]): Promise<number> {
  return runCommand(program, argv);
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));

async function run(options: SampleOptions & { output: string }): Promise<void> {
  using progress = new Progress();
  const began = performance.now();
  try {
    const counts = await writeSample({
      ...options,
      onProgress: (written) => {
        progress.show(
          `writing tickets, ${count(written)} of ${count(options.tickets)}`,
          written / options.tickets,
        );
      },
    });
    progress.clear();
    print(printable(`${options.output}: written in ${timeSpan(performance.now() - began)}`));
    const rows = Object.entries(counts).map(([kind, lines]) => [kind, count(lines)]);
    print(indented(table([left(''), right('')], rows)));
  } catch (error) {
    if (error instanceof FolderInUse || isSystemError(error)) {
      throw new Refused(`error: option '--output': ${error.message}`);
    }
    throw error;
  }
}

function day(text: string): string {
  if (!isCalendarDate(text))
    throw new InvalidArgumentError('It must be a calendar date, such as 2027-03-14.');
  return text;
}
