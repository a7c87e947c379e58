import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import packageJson from '../package.json' with { type: 'json' };
import { importsOf, packagesOf } from './support/imports.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** An entry of the lockfile: https://docs.npmjs.com/cli/configuring-npm/package-lock-json#packages */
interface LockedPackage {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly license?: string;
  readonly dev?: boolean;
}

/** Licenses that a dependency of the running process may have. */
const PERMISSIVE = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause'];

const lockfile = JSON.parse(textOf('package-lock.json')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};

/** The programs of a production install. `npm run bench`, `soak` and the checks need the development packages. */
const PROGRAMS = [
  'src/main.ts',
  ...['demo', 'sample', 'snapshot', 'keys', 'openapi'].map((command) => `scripts/${command}.ts`),
];
/** Files that npm always packs. */
const ALWAYS_PACKED = ['LICENSE', 'README.md', 'package.json'];
/** Files that the programs read. */
const SCHEMAS = ['data/keys.sql', 'data/schema.sql'];
/** Files that the guide offers. */
const EXAMPLES = ['examples/dlt/foyer_source.py', 'examples/sync/sync.py', 'examples/sync/sync.ts'];

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
    expect(lockfile).to.include({ version });
  });

  it('declares every package that the process and its commands import as a dependency', () => {
    const imported = new Set(Array.from(program.values(), packagesOf).flat());
    expect(imported).to.include('express');
    expect(Object.keys(packageJson.dependencies)).to.include.members([...imported]);
  });

  it('packs the files of the programs, and no others', () => {
    const packed = packedFiles();
    const pages = packed.filter((path) => path.startsWith('src/pages/') && !path.endsWith('.ts'));
    const needed = new Set([...ALWAYS_PACKED, ...SCHEMAS, ...EXAMPLES, ...pages, ...program.keys()]);
    expect(packed.sort()).to.deep.equal([...needed].sort());
  });
});

describe('The lockfile', () => {
  // The empty path is that of the project itself.
  const packages = Object.entries(lockfile.packages).filter(([path]) => path !== '');
  const pathsOf = (matches: (locked: LockedPackage) => boolean) =>
    packages.filter(([, locked]) => matches(locked)).map(([path]) => path);

  it('has a digest for every package, which `npm ci` verifies', () => {
    expect(packages).to.have.length.above(100);
    expect(pathsOf(({ integrity = '' }) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity))).to.deep.equal(
      [],
    );
  });

  it('names no package source', () => {
    expect(pathsOf(({ resolved }) => resolved !== undefined)).to.deep.equal([]);
  });

  it('has only permissive licenses among the packages of the running process', () => {
    const isOther = ({ dev, license = 'none' }: LockedPackage) =>
      dev !== true && !PERMISSIVE.includes(license);
    expect(pathsOf(isOther)).to.deep.equal([]);
  });
});
