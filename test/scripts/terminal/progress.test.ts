import { expect } from 'chai';
import { Progress } from '../../../scripts/terminal/progress.ts';

/** An output without a terminal, and a clock to set. */
function plainProgress() {
  const lines: string[] = [];
  const clock = { ms: 0 };
  const output = {
    isTTY: false,
    columns: 80,
    write: (text: string | Uint8Array) => lines.push(String(text)) > 0,
  };
  return { progress: new Progress(output, () => clock.ms), lines, clock };
}

describe('The progress of a command', () => {
  it('is a line every ten seconds where there is no terminal', () => {
    const { progress, lines, clock } = plainProgress();
    for (; clock.ms <= 25_000; clock.ms += 100) progress.show(`tickets, ${clock.ms}`, clock.ms / 30_000);
    progress.clear();
    expect(lines).to.deep.equal(['tickets, 10000 (33 %)\n', 'tickets, 20000 (66 %)\n']);
  });
});
