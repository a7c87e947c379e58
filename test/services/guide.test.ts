import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../support/command.ts';
import { needs } from '../support/components.ts';

describe('The Python of docs/integrators.md', () => {
  needs('Python 3.11 with venv');
  const guide = readFileSync(join(ROOT, 'docs/integrators.md'), 'utf8');
  const printing = Array.from(
    guide.matchAll(/```python\n([^`]*\nprint\(.*\)) +# ([^,\n]*).*\n```/g),
    ([, program, printed]) => ({ program, printed }),
  );

  it('has an example of times and one of money', () => {
    expect(printing).to.have.length(2);
  });

  for (const { program, printed } of printing)
    it(`prints ${printed}`, () => {
      const { stdout, stderr } = spawnSync('python3', ['-c', program], { encoding: 'utf8' });
      expect(stdout, stderr).to.equal(`${printed}\n`);
    });
});
