import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };
import { COMPILE_CACHE } from '../src/compile-cache.ts';
import { CONFIG_VARIABLES } from '../src/config.ts';
import { type Operation, OPERATIONS, parametersOf } from '../src/contract/operations.ts';
import { RELEASES } from '../src/contract/releases.ts';

/**
 * Writes the parts of docs/reference.md that derive from the code, each between `<!-- NAME -->` and
 * `<!-- end of NAME -->`. With `--check`, exits with 1 if they differ.
 */

const ROOT = new URL('..', import.meta.url);
const REFERENCE = new URL('docs/reference.md', ROOT);

/** Roles of parameters that every list has. */
const COMMON_ROLES = ['page', 'perPage', 'contentDigest'];

const written = await readFile(REFERENCE, 'utf8');
const derived = await withDerivedParts(written);
if (!process.argv.includes('--check')) {
  await writeFile(REFERENCE, derived);
} else if (derived !== written) {
  console.error('docs/reference.md differs from the code: run `npm run reference`');
  process.exitCode = 1;
}

async function withDerivedParts(text: string): Promise<string> {
  const parts = {
    operations: table(['operation', 'parameters'], OPERATIONS.map(operationRow)),
    commands: commandsText(await allHelps()),
    environment: table(
      ['variable', 'default', 'meaning'],
      Object.entries(CONFIG_VARIABLES).map(([name, variable]) => [
        `\`${name}\``,
        variable.default ?? '',
        variable.description,
      ]),
    ),
  };
  return Object.entries(parts).reduce((result, [name, part]) => replacePart(result, name, part), text);
}

function replacePart(text: string, name: string, part: string): string {
  const [begin, end] = [`<!-- ${name} -->\n\n`, `\n\n<!-- end of ${name} -->`];
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`docs/reference.md has no part "${name}"`);
  return text.slice(0, from + begin.length) + part + text.slice(to);
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function operationRow(operation: Operation): string[] {
  const parameters =
    operation.kind === 'list'
      ? operation.parameters.filter(({ role }) => !COMMON_ROLES.includes(role.is))
      : parametersOf(operation);
  const isReleased = RELEASES.some(({ operations }) => operations.includes(operation.id));
  return [
    `\`GET ${operation.path}\`${isReleased ? '' : ' (preview)'}`,
    parameters.map(({ name }) => `\`${name}\``).join(', '),
  ];
}

/** Returns the help of the programs that npm scripts run in their own place (`exec`): those for users. */
async function allHelps(): Promise<string[]> {
  const programs = Object.values(packageJson.scripts).flatMap((line) => {
    const program = /\bexec node .*?(\S+\.ts)$/.exec(line)?.[1];
    return program === undefined ? [] : [program];
  });
  return (await Promise.all(programs.map(helpsOf))).flat();
}

/** Returns the help of a program, or those of its subcommands if it has any. */
async function helpsOf(program: string): Promise<string[]> {
  const help = await helpText(program);
  const [, list = ''] = help.split('\nCommands:\n');
  const subcommands = Array.from(list.matchAll(/^ {2}(\w+)/gm), ([, name]) => name);
  if (subcommands.length === 0) return [help];
  return Promise.all(subcommands.filter((name) => name !== 'help').map((name) => helpText(program, name)));
}

/** Returns the help without the variables of the environment, which have a table of their own. */
async function helpText(program: string, ...subcommand: string[]): Promise<string> {
  const argv = [fileURLToPath(new URL(program, ROOT)), ...subcommand, '--help'];
  // The cache makes the helps take a third of the time.
  const env = { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE };
  const { stdout } = await promisify(execFile)(process.execPath, argv, { env });
  return stdout.replace(/\nEnvironment:\n.*/s, '').trimEnd();
}

/** Returns an overview of commands, and a section with the help of each. */
function commandsText(helps: readonly string[]): string {
  const rows = helps.map((help) => [`[\`${nameIn(help)}\`](#${anchor(nameIn(help))})`, firstSentence(help)]);
  const sections = helps.map((help) => `### ${nameIn(help)}\n\n\`\`\`\n${help}\n\`\`\``);
  return [table(['command', 'does'], rows), ...sections].join('\n\n');
}

/** Returns the command in the line of usage, such as `npm run keys -- create`. */
function nameIn(help: string): string {
  return /^Usage: (.*?)(?: --)? (?:[[<]|$)/m.exec(help)?.[1] ?? '';
}

/** Returns the first sentence of a help after its line of usage. */
function firstSentence(help: string): string {
  const [, description = ''] = help.split('\n\n');
  return /^.*?\.(?=\s|$)/.exec(description.replaceAll('\n', ' '))?.[0] ?? description;
}

/** Returns the anchor that GitHub derives from a heading. */
function anchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}
