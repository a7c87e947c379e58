import { writeFile } from 'node:fs/promises';
import { openApiDocument } from '../src/contract/openapi/document.ts';
import { RELEASES } from '../src/contract/releases.ts';
import { commandLine, runCommand } from './run-command.ts';

const program = commandLine('openapi', 'Prints the OpenAPI 3.1 document of the API.')
  .option('--output <file>', 'write it to this file instead')
  .option('--base-url <url>', 'URL of the API, without a trailing slash')
  .action(print);

process.exitCode = await runCommand(program, process.argv.slice(2));

async function print({ output, baseUrl }: { output?: string; baseUrl?: string }): Promise<void> {
  const text = JSON.stringify(openApiDocument(RELEASES, baseUrl), undefined, 2) + '\n';
  if (output !== undefined) await writeFile(output, text);
  // A reader may close the pipe early, such as `head`.
  else process.stdout.on('error', () => process.exit(0)).write(text);
}
