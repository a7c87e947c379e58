import { readdir, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { main } from '../../scripts/sample.ts';
import { type Ended, run, runHere } from '../support/command.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { FILES } from './sample/sample-folder.ts';

describe('npm run sample', () => {
  const inFolder = folderForAll();

  it('writes the folder and reports its counts on standard output', async () => {
    const output = inFolder('new');
    const options = ['--output', output, '--events', '3', '--tickets', '12'];
    const { code, stdout, stderr } = await run('scripts/sample.ts', options);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout)
      .to.include(output)
      .and.match(/^ {2}tickets +12$/m)
      .and.match(/^ {2}events +3$/m);
    expect((await readdir(output)).sort()).to.deep.equal(FILES);
  });

  it('prints its usage with --help', async () => {
    const { code, stdout } = await sample('--help');
    expect(code).to.equal(0);
    for (const option of ['--output', '--organizations', '--events', '--tickets', '--seed', '--now']) {
      expect(stdout).to.include(option);
    }
  });

  it('refuses a folder with other files', async () => {
    await writeFile(inFolder('letter.txt'), 'dear');
    const { code, stdout, stderr } = await sample('--output', inFolder('.'));
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.include('--output').and.include('letter.txt').and.include('new or empty folder');
  });

  it('refuses a file as output folder', async () => {
    const file = inFolder('letter.txt');
    await writeFile(file, 'dear');
    const { code, stderr } = await sample('--output', file);
    expect(code).to.equal(1);
    expect(stderr).to.include('--output').and.include(file).and.not.include('    at ');
  });

  for (const [option, value, rule] of [
    ['--tickets', '0', 'whole number from 1'],
    ['--tickets', '1e3', 'whole number from 1'],
    ['--events', '0x10', 'whole number from 1'],
    ['--organizations', '-1', 'whole number from 1'],
    ['--organizations', ' 2', 'whole number from 1'],
    ['--seed', '4294967296', 'to 4294967295'],
    ['--now', '2026-11-31', 'calendar date'],
  ]) {
    it(`exits with 2 for ${option} "${value}"`, async () => {
      const { code, stdout, stderr } = await sample('--output', inFolder('never'), option, value);
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr).to.include(option).and.include(rule);
    });
  }

  for (const parameters of [[], ['--output', 'x', '--ticket', '5'], ['--output', 'x', 'y']]) {
    it(`exits with 2 for "${parameters.join(' ')}"`, async () => {
      const { code, stderr } = await sample(...parameters);
      expect(code).to.equal(2);
      expect(stderr).to.match(/^error: /);
    });
  }
});

function sample(...parameters: string[]): Promise<Omit<Ended, 'signal'>> {
  return runHere(main, parameters);
}
