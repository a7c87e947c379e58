import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { FILES, temporaryFolder } from './sample-folder.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/sample.ts');

describe('npm run sample', () => {
  const folder = temporaryFolder();

  it('writes the folder and reports what is in it on standard output', async () => {
    const output = join(folder.path, 'new');
    const { code, stdout, stderr } = await sample('--output', output, '--events', '3', '--tickets', '12');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout)
      .to.include(output)
      .and.match(/tickets: 12\n/)
      .and.match(/events: 3\n/);
    expect((await readdir(output)).sort()).to.deep.equal(FILES);
  });

  it('explains itself', async () => {
    const { code, stdout } = await sample('--help');
    expect(code).to.equal(0);
    for (const option of ['--output', '--organizations', '--events', '--tickets', '--seed', '--now']) {
      expect(stdout).to.include(option);
    }
  });

  it('is refused a folder in use', async () => {
    await writeFile(join(folder.path, 'letter.txt'), 'dear');
    const { code, stdout, stderr } = await sample('--output', folder.path);
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.include('--output').and.include('letter.txt').and.include('new or empty folder');
  });

  it('is refused a file for a folder', async () => {
    const file = join(folder.path, 'letter.txt');
    await writeFile(file, 'dear');
    const { code, stderr } = await sample('--output', file);
    expect(code).to.equal(1);
    expect(stderr).to.include('--output').and.include(file).and.not.include('    at ');
  });

  for (const [option, value, right] of [
    ['--tickets', '0', 'whole number from 1'],
    ['--tickets', '1e3', 'whole number from 1'],
    ['--events', '0x10', 'whole number from 1'],
    ['--organizations', '-1', 'whole number from 1'],
    ['--organizations', ' 2', 'whole number from 1'],
    ['--seed', '4294967296', 'to 4294967295'],
    ['--now', '2026-11-31', 'calendar date'],
  ]) {
    it(`takes ${option} "${value}" for wrong usage`, async () => {
      const { code, stdout, stderr } = await sample('--output', join(folder.path, 'never'), option, value);
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.include(option).and.include(right);
    });
  }

  for (const wrong of [[], ['--output', 'x', '--ticket', '5'], ['--output', 'x', 'y']]) {
    it(`takes "${wrong.join(' ')}" for wrong usage`, async () => {
      const { code, stderr } = await sample(...wrong);
      expect(code).to.equal(2);
      expect(stderr).to.match(/^error: /);
    });
  }
});

function sample(...parameters: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [SCRIPT, ...parameters], (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}
