import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import manifest from '../../client/package.json' with { type: 'json' };
import service from '../../package.json' with { type: 'json' };
import { INHERITED, ROOT } from '../support/command.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { givenApi } from '../support/test-api.ts';

const CLIENT = join(ROOT, 'client');

/** Runs a program. Returns its standard output. */
async function output(
  program: string,
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const env = { ...INHERITED, ...environment };
  const run = promisify(execFile)(program, [...args], { cwd, env });
  return (await run.catch((error: unknown) => Promise.reject(new Error(JSON.stringify(error))))).stdout;
}

/** Returns the blocks of the README in a language. */
function readmeBlocks(language: 'sh' | 'ts'): string[] {
  const readme = readFileSync(join(CLIENT, 'README.md'), 'utf8');
  return Array.from(
    readme.matchAll(RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms')),
    ([, block]) => block,
  );
}

/** Returns the TypeScript of the README as one program. The first block is in scope of the others. */
function readmeProgram(): string {
  const blocks = readmeBlocks('ts');
  const imports = blocks.flatMap((block) => block.match(/^import .*$/gm) ?? []);
  const [first, ...others] = blocks.map((block) => block.replaceAll(/^import .*$/gm, ''));
  return [...imports, first, ...others.map((block) => `{\n${block}}`)].join('\n');
}

describe('The package of the TypeScript client', () => {
  const given = givenApi();
  const inFolder = folderForAll();

  before(async () => {
    const consumer = inFolder('consumer');
    mkdirSync(consumer);
    const [create, , install] = readmeBlocks('sh')[0].trim().split('\n');
    const served = await fetch(`${given.api.origin}/docs/foyer-client.tgz`);
    writeFileSync(inFolder('consumer/foyer-client.tgz'), await served.bytes());
    for (const command of [create, install])
      await output('sh', ['-c', command], consumer, {
        NPM_CONFIG_OFFLINE: 'true',
        NPM_CONFIG_AUDIT: 'false',
      });
  });

  it('is served as its sources make it: `npm run client:package` renews it', async () => {
    const [name] = (
      await output('npm', ['pack', '--silent', '--pack-destination', inFolder('.')], CLIENT)
    ).split('\n');
    await output('tar', ['-xzf', name], inFolder('.'));
    await output('diff', ['-r', 'package', 'consumer/node_modules/foyer-client'], inFolder('.'));
  });

  it('has the version of the service, code, types, a license and a README, and no dependency', () => {
    expect(manifest.version).to.equal(service.version);
    const installed = inFolder('consumer/node_modules');
    expect(readdirSync(installed).filter((name) => !name.startsWith('.'))).to.deep.equal([manifest.name]);
    expect(readdirSync(join(installed, manifest.name))).to.have.members([
      ...['LICENSE', 'README.md', 'dist', 'package.json'],
    ]);
    expect(manifest).not.to.have.property('dependencies');
  });

  it('serves the TypeScript of its README, with types', async () => {
    // The last line does not compile if the types of the package are missing.
    const typed = '// @ts-expect-error a ticket has fields\n({}) satisfies import("foyer-client").Ticket;\n';
    writeFileSync(inFolder('consumer/readme.ts'), `${readmeProgram()}\n${typed}`);
    const compilerOptions = {
      ...{ module: 'nodenext', target: 'es2022', lib: ['esnext'], strict: true, skipLibCheck: false },
      ...{ outDir: 'out', types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
    };
    writeFileSync(
      inFolder('consumer/tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['readme.ts'] }),
    );
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    await output(process.execPath, [compiler], inFolder('consumer'));
    const printed = await output(process.execPath, ['out/readme.js'], inFolder('consumer'), {
      FOYER_URL: given.api.origin,
      FOYER_KEY: given.api.authorization('north').slice('Bearer '.length),
    });
    expect(printed).to.match(/^3\/3: |^2\/2: 7 tickets as of /m);
    // The sum of 57 prices of 0.1. In floating point, it is 5.699999999999996.
    expect(printed).to.match(/^5\.70$/m);
    expect(printed).to.match(/^\d+ records as of 2026-11-21T04:00:00.000Z$/m);
    expect(printed).to.match(/^query\.perPage: must be an integer from 1 to 100/m);
  });
});
