import { writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { openApiDocument } from '../src/contract/openapi.ts';
import { RELEASES } from '../src/contract/releases.ts';

const USAGE_ERROR = 2;

const program = new Command('openapi')
  .description('Prints the OpenAPI 3.1 document of the API.')
  .option('--output <file>', 'write it to this file instead')
  .option('--base-url <url>', 'address of the API, without a slash at the end')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : USAGE_ERROR))
  .parse();
const { output, baseUrl } = program.opts<{ output?: string; baseUrl?: string }>();

const text = JSON.stringify(openApiDocument(RELEASES, baseUrl), undefined, 2) + '\n';
if (output === undefined) {
  // Whoever reads only the beginning has what they wanted.
  process.stdout.on('error', () => process.exit(0)).write(text);
} else {
  try {
    await writeFile(output, text);
  } catch (error) {
    console.error(`openapi: cannot write ${output}: ${String(error)}`);
    process.exitCode = 1;
  }
}
