import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import packageJson from '../package.json' with { type: 'json' };
import { importsOf, packagesOf } from './support/imports.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The programs of a production install. `npm run bench`, `soak` and the checks need the development packages. */
const PROGRAMS = [
  'src/main.ts',
  ...['demo', 'sample', 'snapshot', 'keys', 'openapi'].map((command) => `scripts/${command}.ts`),
];
/** Files that npm always packs. */
const ALWAYS_PACKED = ['LICENSE', 'README.md', 'package.json'];
/** Files that the programs read. */
const SCHEMAS = ['data/keys.sql', 'data/schema.sql'];

/** The source text of the programs and everything that they import, by path. */
const program = new Map<string, string>();
for (const path of PROGRAMS) addToProgram(path);

function addToProgram(path: string): void {
  if (program.has(path) || !path.endsWith('.ts')) return;
  const source = textOf(path);
  program.set(path, source);
  for (const imported of importsOf(path, source)) addToProgram(imported);
}

function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Returns the files that `npm pack` would pack. */
function packedFiles(): string[] {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const packages = JSON.parse(output) as Readonly<Record<string, { files: readonly { path: string }[] }>>;
  return Object.values(packages).flatMap(({ files }) => files.map(({ path }) => path));
}

describe('The package', () => {
  it('has the version of the latest release in the changelog', () => {
    const [, version] = /^## (\d\S*)$/m.exec(textOf('CHANGELOG.md')) ?? [];
    expect(packageJson.version).to.equal(version);
    expect(JSON.parse(textOf('package-lock.json'))).to.include({ version });
  });

  it('declares every package that the process and its commands import as a dependency', () => {
    const imported = new Set(Array.from(program.values(), packagesOf).flat());
    expect(imported).to.include('express');
    expect(Object.keys(packageJson.dependencies)).to.include.members([...imported]);
  });

  it('packs the files of the programs, and no others', () => {
    const packed = packedFiles();
    const pages = packed.filter((path) => path.startsWith('src/pages/') && !path.endsWith('.ts'));
    const needed = new Set([...ALWAYS_PACKED, ...SCHEMAS, ...pages, ...program.keys()]);
    expect(packed.sort()).to.deep.equal([...needed].sort());
  });
});
