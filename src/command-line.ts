import { Command, CommanderError } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { CONFIG_VARIABLES, WrongUsage } from './config.ts';

/** Command lines of npm scripts: the parts that all have, and that of `npm start`. */

/** Returns the program of an npm script, named as npm runs it. It raises errors in place of an exit. */
export function programOf(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .version(packageJson.version, '--version', 'print the version of Foyer')
    .exitOverride();
}

/**
 * Prints the help or the version of `npm start`. The environment configures the process, so its options only print.
 * Returns whether an argument asked for one of them.
 * @throws WrongUsage for any other argument
 */
export function printForArguments(args: readonly string[]): boolean {
  const program = programOf(
    'npm start --',
    'Serves the snapshots of a folder until a signal stops it. Environment variables configure it.',
  )
    .addHelpText('after', ({ command }) => environmentHelp(command))
    .configureOutput({ writeErr: () => undefined });
  // A reader such as `head` may close the pipe before it has all of the help.
  process.stdout.on('error', () => undefined);
  try {
    program.parse(args, { from: 'user' });
    return false;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return true;
    throw new WrongUsage(`${error.message}\n\n${program.helpInformation()}`);
  }
}

/** Returns the environment variables with their defaults, in the format of options. */
function environmentHelp(command: Command): string {
  const help = command.createHelp();
  help.prepareContext({ helpWidth: process.stdout.columns || 80 });
  const width = Math.max(...Object.keys(CONFIG_VARIABLES).map((name) => name.length));
  const items = Object.entries(CONFIG_VARIABLES).map(([name, { description, default: value }]) =>
    help.formatItem(
      name,
      width,
      value === undefined ? description : `${description} (default: ${value})`,
      help,
    ),
  );
  return help.formatItemList('\nEnvironment:', items, help).join('\n').trimEnd();
}
