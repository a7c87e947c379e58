import { type Command, CommanderError } from 'commander';
import { InvalidConfig } from '../src/config.ts';

/** What a command refuses to do, in words for whoever typed it. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** Whether the system or SQLite says it of a file, such as that the disk is full: it needs no stack. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && ('syscall' in error || error.name === 'SqliteError');
}

/** What is told in a line or a few, without a stack: a refusal, a mistake in the environment, what the system says. */
function isForPeople(error: unknown): error is Error {
  return error instanceof Refused || error instanceof InvalidConfig || isSystemError(error);
}

/** Exit statuses of every command. */
const DONE = 0;
const REFUSED = 1;
const WRONG_USAGE = 2;

/** Runs a command line. Errors go to standard error. Returns the exit status. */
export async function runCommand(program: Command, argv: readonly string[]): Promise<number> {
  for (const command of [program, ...program.commands]) command.exitOverride().showHelpAfterError();
  try {
    await program.parseAsync(argv, { from: 'user' });
    return DONE;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USAGE;
    console.error(isForPeople(error) ? error.message : error);
    return REFUSED;
  }
}
