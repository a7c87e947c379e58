import { spawnSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import { INHERITED, ROOT } from '../support/command.ts';
import { needs } from '../support/components.ts';
import { folderForAll } from '../support/temporary-folder.ts';

describe('The progress of a command', () => {
  needs('script');
  const folder = folderForAll();

  /** Makes a sample in a terminal of 80 columns. Returns all that was written to it. */
  function screenOf(name: string, environment: Readonly<Record<string, string>> = {}): string {
    const command = `scripts/sample.ts --output ${folder(name)} --tickets 8000 --events 60`;
    const line = `stty columns 80 && exec ${process.execPath} ${command}`;
    const { status, stdout } = spawnSync('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
      cwd: ROOT,
      env: { ...INHERITED, TERM: 'xterm-256color', ...environment },
      encoding: 'utf8',
    });
    expect(status, stdout).to.equal(0);
    return stdout;
  }

  it('is a bar on a terminal, within its width, and leaves only the summary', () => {
    const screen = screenOf('terminal');
    const drawn = screen.split('\r').filter((line) => line.includes('%'));
    expect(stripVTControlCharacters(drawn[0])).to.match(
      /^[█░]{24} +\d+ % {2}writing tickets, [\d,]+ of 8,000$/,
    );
    for (const line of drawn) {
      expect(line).to.include('\x1b[36m');
      expect(stripVTControlCharacters(line)).to.have.length.at.most(79);
    }
    expect(screen.split('\r\x1b[K').at(-1)).to.match(/^\S+terminal: written in /);
  });

  it('has no colour with NO_COLOR', () => {
    expect(screenOf('plain', { NO_COLOR: '1' }))
      .to.include('░')
      .and.not.include('\x1b[36m');
  });

  it('is lines on a dumb terminal', () => {
    expect(screenOf('dumb', { TERM: 'dumb' })).to.not.include('\x1b');
  });
});
