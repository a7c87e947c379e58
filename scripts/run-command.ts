import { type Command, CommanderError } from 'commander';
import { InvalidConfig } from '../src/config.ts';

/** The refusal of a command. The message gives the user the reason. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** Reports whether the operating system or SQLite raised the error, such as a full disk. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && ('syscall' in error || error.name === 'SqliteError');
}

/** Reports whether the message alone explains the error, without its stack. */
function explainsItself(error: unknown): error is Error {
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
    console.error(explainsItself(error) ? error.message : error);
    return REFUSED;
  }
}
