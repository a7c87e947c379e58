import { inspect } from 'node:util';
import { type Command, CommanderError, InvalidArgumentError } from 'commander';
import { programOf } from '../src/command-line.ts';
import { WrongUsage } from '../src/config.ts';
import { print, warn, warnLines } from './terminal/print.ts';

/** The refusal of a command. The message gives the user the reason. */
export class Refused extends Error {
  override readonly name = 'Refused';
  /** Further members of the error that the command prints with `--json`. */
  readonly details: object;

  constructor(message: string, details: object = {}) {
    super(message);
    this.details = details;
  }
}

/** Reports whether the operating system or SQLite raised the error, such as a full disk. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && ('syscall' in error || error.name === 'SqliteError');
}

/** Reports whether the message alone explains the error, without its stack. */
function explainsItself(error: unknown): error is Error {
  return error instanceof Refused || error instanceof WrongUsage || isSystemError(error);
}

/** Exit statuses of every command. */
const DONE = 0;
const REFUSED = 1;
const WRONG_USAGE = 2;

/** The option of commands whose output programs read: one JSON object on standard output, also on a refusal. */
export const JSON_OPTION = ['--json', 'print one JSON object'] as const;

/** Returns the program of `npm run NAME`, to which options and commands are added. */
export function commandLine(name: string, description: string): Command {
  return programOf(`npm run ${name} --`, description)
    .configureOutput({
      writeErr: (text) => {
        warnLines(text.replace(/\n$/, ''));
      },
    })
    .showHelpAfterError();
}

/** Returns a parser of the whole numbers that an option accepts. */
export function wholeNumber(least: number, most = Infinity): (text: string) => number {
  return (text) => {
    // Digits only: Number also accepts 1e3, 0x10 and blanks.
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (value >= least && value <= most) return value;
    const range = most === Infinity ? `from ${least}` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };
}

/** Runs a command line. Errors go to standard error. Returns the exit status. */
export async function runCommand(program: Command, argv: readonly string[]): Promise<number> {
  try {
    await program.parseAsync(argv, { from: 'user' });
    return DONE;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USAGE;
    if (error instanceof Refused) warn(error.message);
    else warnLines(explainsItself(error) ? error.message : inspect(error));
    if (hasJsonOutput(program)) printJson({ error: errorObject(error) });
    return REFUSED;
  }
}

/** Returns whether the last command of a program was called with `JSON_OPTION`. */
function hasJsonOutput({ commands, args: [name] }: Command): boolean {
  return commands.find((command) => command.name() === name)?.opts()['json'] === true;
}

export function printJson(value: object): void {
  // The escapes are those of JSON.
  print(JSON.stringify(value));
}

function errorObject(error: unknown): object {
  if (!explainsItself(error)) return { message: String(error) };
  return { message: error.message, ...(error instanceof Refused ? error.details : {}) };
}
