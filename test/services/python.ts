import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
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
    mkdirSync(FOLDER, { recursive: true });
    const file = join(import.meta.dirname, 'requirements.txt');
    const install = `"$0" -m pip --version >/dev/null 2>&1 || python3 -m venv "$1"
      "$0" -m pip install --quiet --require-hashes --requirement "$2"`;
    // Other suites may use it already, or do the same at this moment.
    execFileSync('flock', [FOLDER, 'sh', '-ec', install, python, FOLDER, file], { stdio: 'inherit' });
  });
  return python;
}
