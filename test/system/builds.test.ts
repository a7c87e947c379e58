import { expect } from 'chai';
import { run } from '../support/command.ts';
import { byDepth } from '../support/depth.ts';
import { buildFile, organizationOf, recordsOf, writeImport } from '../support/import-folder.ts';
import { readSnapshot } from '../support/read-snapshot.ts';
import { recordsIn, times } from '../support/records.ts';
import { SMALL_IMPORT } from '../support/small-import.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const BUILDERS = 3;
const ROUNDS = byDepth({ short: 4, deep: 30 });
/** A build that began before another may read the result of that, which is then not older. */
const TOO_LATE =
  /main\.sqlite: (the output has changed since the build began: build again|its time, .* is not before .*); no snapshot was written\n$/;

describe('Builds that replace one base at once', () => {
  const inFolder = folderForAll();
  const { ticket } = recordsIn('north');

  it('lose no change: those that are too late fail, and succeed when they are repeated', async () => {
    const base = inFolder('main.sqlite');
    await buildFile(SMALL_IMPORT, base, { producedAt: new Date('2026-01-01T00:00:00Z') });
    const failures: string[] = [];
    const add = async (id: string) => {
      writeImport(inFolder(id), { tickets: [ticket(id)] });
      const args = ['build', '--input', inFolder(id), '--base', base, '--output', base];
      for (;;) {
        const { code, stderr } = await run('scripts/snapshot.ts', args);
        if (code === 0) return;
        expect(stderr).to.match(TOO_LATE);
        failures.push(stderr);
      }
    };
    const builders = times(BUILDERS, (builder) => times(ROUNDS, (round) => `b${builder}-${round}`));
    await Promise.all(
      builders.map(async (ids) => {
        for (const id of ids) await add(id);
      }),
    );
    const { tickets } = organizationOf(readSnapshot(base), 'north');
    expect([...recordsOf(tickets).keys()]).to.include.members(builders.flat());
    expect(failures.join()).to.include('has changed');
  });
});
