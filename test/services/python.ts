import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../support/command.ts';
import { needs } from '../support/components.ts';

/** Downloaded packages are kept here. */
const FOLDER = join(ROOT, 'node_modules/.cache/services/python');

/**
 * Installs a Python with the packages of `requirements.txt` before the tests of the calling suite.
 * @returns its path
 */
export function givenPython(): string {
  const python = join(FOLDER, 'bin/python');
  needs('Python 3.11 with venv');
  before(() => {
    execFileSync('python3', ['-m', 'venv', FOLDER]);
    const file = join(import.meta.dirname, 'requirements.txt');
    const install = ['-m', 'pip', 'install', '--quiet', '--require-hashes', '--requirement', file];
    execFileSync(python, install, { stdio: 'inherit' });
  });
  return python;
}
