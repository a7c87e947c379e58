import { execFileSync } from 'node:child_process';
import { basename, join } from 'node:path';
import { ROOT } from '../support/command.ts';
import { needs } from '../support/components.ts';

/** Downloaded packages are kept here. */
const FOLDER = join(ROOT, 'node_modules/.cache/services');

/**
 * Installs a Python with the packages of a file before the tests of the calling suite.
 * @returns its path
 */
export function givenPython(requirements: string): string {
  const folder = join(FOLDER, `python-${basename(requirements, '.txt')}`);
  const python = join(folder, 'bin/python');
  needs('Python 3.11 with venv');
  before(() => {
    execFileSync('python3', ['-m', 'venv', folder]);
    const file = join(import.meta.dirname, requirements);
    const install = ['-m', 'pip', 'install', '--quiet', '--require-hashes', '--requirement', file];
    execFileSync(python, install, { stdio: 'inherit' });
  });
  return python;
}
