import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../support/command.ts';
import { needs } from '../support/components.ts';

/** Downloaded packages are kept here. */
const FOLDER = join(ROOT, 'node_modules/.cache/services/python');

/** A Python with the packages of requirements.txt. */
export const PYTHON = join(FOLDER, 'bin/python');

/** Installs `PYTHON` before the tests of the calling suite. */
export function givenPython(): void {
  needs('Python 3.11 with venv');
  before(() => {
    execFileSync('python3', ['-m', 'venv', FOLDER]);
    const requirements = join(import.meta.dirname, 'requirements.txt');
    const install = ['-m', 'pip', 'install', '--quiet', '--require-hashes', '--requirement', requirements];
    execFileSync(PYTHON, install, { stdio: 'inherit' });
  });
}
