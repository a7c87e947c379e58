import { readFileSync } from 'node:fs';
import { expect } from 'chai';

/** An entry of the lockfile: https://docs.npmjs.com/cli/configuring-npm/package-lock-json#packages */
interface LockedPackage {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly license?: string;
  readonly dev?: boolean;
}

/** Licenses that a dependency of the running process may have. */
const PERMISSIVE = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause'];

const lockfile = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  readonly packages: Readonly<Record<string, LockedPackage>>;
};

/** The path of the project itself. */
const PROJECT = '';
const packages = Object.entries(lockfile.packages).filter(([path]) => path !== PROJECT);

/** Returns the paths of the packages that match. */
function pathsOf(matches: (locked: LockedPackage) => boolean): string[] {
  return packages.filter(([, locked]) => matches(locked)).map(([path]) => path);
}

describe('The lockfile', () => {
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
