import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import packageJson from '../package.json' with { type: 'json' };
import { guidePage } from './reference/guide.ts';
import * as monitoring from './reference/monitoring.ts';
import * as tables from './reference/tables.ts';

/**
 * Writes the parts of documents that derive from the code, each between `<!-- NAME -->` and `<!-- end of NAME -->`, and
 * the files that wholly derive from it or from a document. With `--check`, exits with 1 if they differ.
 */

const ROOT = new URL('..', import.meta.url);

/** The programs that npm scripts run in their own place (`exec`): those for users. */
const PROGRAMS = Object.values(packageJson.scripts).flatMap(
  (line) => /\bexec node .*?(\S+\.ts)$/.exec(line)?.[1] ?? [],
);

/** The derived parts of the reference, by name. */
const PARTS: Readonly<Record<string, string>> = {
  operations: tables.operationTable(),
  commands: commandsText((await Promise.all(PROGRAMS.map(helpsOf))).flat()),
  environment: tables.environmentTable(),
  'import files': tables.importFileSections(),
  refusals: tables.refusalTable(),
  memory: tables.memoryTable(),
  metrics: monitoring.metricTable(),
  alerts: monitoring.alertTable(),
  reasons: monitoring.reasonTable(),
};

const FILES: Readonly<Record<string, string>> = {
  'deploy/prometheus/rules.yml': monitoring.processRules(),
  'deploy/prometheus/pull.rules.yml': monitoring.pullRules(),
  'deploy/prometheus/dashboard.json': monitoring.dashboardFile(),
  'src/pages/docs/guide.html': await guidePage(ROOT, 'docs/integrators.md'),
  'src/pages/docs/client.html': await guidePage(ROOT, 'client/README.md'),
};

await derive('docs/reference.md', (written) =>
  Object.entries(PARTS).reduce((text, [name, part]) => replacePart(text, name, part), written),
);
for (const [path, content] of Object.entries(FILES)) await derive(path, () => content);

async function derive(path: string, derivedFrom: (written: string) => string): Promise<void> {
  const file = new URL(path, ROOT);
  const written = await readFile(file, 'utf8');
  const derived = derivedFrom(written);
  if (!process.argv.includes('--check')) {
    await writeFile(file, derived);
  } else if (derived !== written) {
    console.error(`${path} differs from its source: run \`npm run reference\``);
    process.exitCode = 1;
  }
}

function replacePart(text: string, name: string, part: string): string {
  const [begin, end] = [`<!-- ${name} -->\n\n`, `\n\n<!-- end of ${name} -->`];
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`no document part "${name}" between its markers`);
  return text.slice(0, from + begin.length) + part + text.slice(to);
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
  const { stdout } = await promisify(execFile)(process.execPath, argv);
  return stdout.replace(/\nEnvironment:\n.*/s, '').trimEnd();
}

/** Returns an overview of commands, and a section with the help of each. */
function commandsText(helps: readonly string[]): string {
  const commands = helps.map((help) => {
    // Such as `Usage: npm run keys -- create [options]`.
    const name = /^Usage: (.*?)(?: --)? (?:[[<]|$)/m.exec(help)?.[1] ?? '';
    const [, description = ''] = help.split('\n\n');
    const firstSentence = /^.*?\.(?=\s|$)/.exec(description.replaceAll('\n', ' '))?.[0] ?? description;
    const anchor = name.replaceAll(/[^\w -]/g, '').replaceAll(' ', '-');
    return {
      row: [`[\`${name}\`](#${anchor})`, firstSentence],
      section: `### ${name}\n\n\`\`\`\n${help}\n\`\`\``,
    };
  });
  const rows = commands.map(({ row }) => row);
  return [tables.table(['command', 'purpose'], rows), ...commands.map(({ section }) => section)].join('\n\n');
}
