import { readdir, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { main } from '../../scripts/sample.ts';
import { run, runHere } from '../support/command.ts';
import { folderForAll } from '../support/temporary-folder.ts';

describe('npm run sample', () => {
  const inFolder = folderForAll();
  const sample = (...parameters: string[]) => runHere(main, parameters);

  it('writes the folder and reports its counts on standard output', async () => {
    const output = inFolder('new');
    const options = ['--output', output, '--events', '3', '--tickets', '12'];
    const { code, stdout, stderr } = await run('scripts/sample.ts', options);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout)
      .to.include(output)
      .and.match(/^ {2}tickets +12$/m)
      .and.match(/^ {2}events +3$/m);
    expect(await readdir(output)).to.include('tickets.ndjson');
  });

  it('refuses a folder with other files, and leaves it unchanged', async () => {
    await writeFile(inFolder('tickets.ndjson.gz'), 'precious');
    const { code, stdout, stderr } = await sample('--output', inFolder('.'));
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.match(/^error: option '--output': .*tickets\.ndjson\.gz.*new or empty folder/);
    expect(await readdir(inFolder('.')))
      .to.include('tickets.ndjson.gz')
      .and.not.include('tickets.ndjson');
  });

  it('refuses a file as output folder', async () => {
    await writeFile(inFolder('letter.txt'), 'dear');
    const { code, stderr } = await sample('--output', inFolder('letter.txt'));
    expect(code).to.equal(1);
    expect(stderr)
      .to.match(/^error: option '--output': .*letter\.txt/)
      .and.not.include('    at ');
  });

  for (const [words, reason] of [
    [['--tickets', '0'], 'whole number from 1'],
    [['--organizations', '-1'], 'whole number from 1'],
    [['--seed', '4294967296'], 'to 4294967295'],
    [['--now', '2026-11-31'], 'calendar date'],
    [['--ticket', '5'], 'unknown option'],
    [['y'], 'too many arguments'],
  ] as const) {
    it(`exits with 2 for ${words.join(' ')}`, async () => {
      const { code, stdout, stderr } = await sample('--output', inFolder('never'), ...words);
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr)
        .to.match(/^error: /)
        .and.include(words[0])
        .and.include(reason);
    });
  }
});
