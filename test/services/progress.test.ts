import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import { needs } from '../support/components.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { runOnTerminal } from './terminal.ts';

describe('The progress of a command', () => {
  needs('Python 3.11 with venv');
  const folder = folderForAll();
  const sample = (name: string) => ['--output', folder(name), '--tickets', '8000', '--events', '60'];

  it('is a bar on a terminal, within its width, and leaves only the summary', async () => {
    const screen = await runOnTerminal('scripts/sample.ts', sample('terminal'));
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

  it('has no colour with NO_COLOR', async () => {
    const screen = await runOnTerminal('scripts/sample.ts', sample('plain'), { NO_COLOR: '1' });
    expect(screen).to.include('░').and.not.include('\x1b[36m');
  });

  it('is lines on a dumb terminal', async () => {
    const screen = await runOnTerminal('scripts/sample.ts', sample('dumb'), { TERM: 'dumb' });
    expect(screen).to.not.include('\x1b');
  });
});
