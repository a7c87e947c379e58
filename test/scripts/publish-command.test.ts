import { mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { main } from '../../scripts/snapshot.ts';
import { inspectSnapshot } from '../../src/snapshot/load/read-snapshot.ts';
import { Command, runHere } from '../support/command.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { inOrganization, minimalTicket } from '../support/records.ts';
import { build, writeImport } from '../support/import-folder.ts';
import { SMALL_IMPORT } from '../support/small-import.ts';

const SCRIPT = 'scripts/snapshot.ts';

describe('npm run snapshot -- publish', function () {
  this.timeout(60_000);
  const folder = folderForAll();
  let folders = 0;
  let served = '';

  before(async () => {
    writeImport(folder('import'), SMALL_IMPORT);
    await build(folder('import'), folder('north.sqlite'));
    const more = Array.from({ length: 60_000 }, (_, i) => inOrganization('north')(minimalTicket(`t${i}`)));
    writeImport(folder('import'), { ...SMALL_IMPORT, tickets: [...SMALL_IMPORT.tickets, ...more] });
    await build(folder('import'), folder('large.sqlite'));
  });

  beforeEach(() => {
    served = folder(`served-${folders++}`);
    mkdirSync(served);
  });

  const publish = (...parameters: readonly string[]) =>
    runHere(main, ['publish', ...parameters], { SNAPSHOT_DIR: served });
  const published = () => join(served, 'north.sqlite');
  const idOf = (path: string) => inspectSnapshot(path).snapshotId;

  it('says what it published, where, and with what leave', async () => {
    expect(await publish(folder('north.sqlite'))).to.deep.include({
      code: 0,
      stderr: '',
      stdout: `${published()}: published, snapshot ${idOf(folder('north.sqlite'))}, 2 organizations\n`,
    });
    const { stdout } = await publish(folder('large.sqlite'), '--as', 'north', '--allow-shrink', '--rollback');
    expect(stdout).to.equal(
      `${published()}: published, snapshot ${idOf(folder('large.sqlite'))}, 2 organizations, permits: rollback, shrink\n`,
    );
    expect((await runHere(main, ['inspect', published()])).stdout).to.include('permits: rollback, shrink\n');
  });

  it('takes each leave by its own option', async () => {
    await publish(folder('north.sqlite'), '--rollback');
    expect(inspectSnapshot(published()).permits).to.deep.equal(['rollback']);
    await publish(folder('north.sqlite'), '--allow-shrink');
    expect(inspectSnapshot(published()).permits).to.deep.equal(['shrink']);
  });

  it('refuses in one line that says why, and that nothing was published', async () => {
    await publish(folder('large.sqlite'), '--as', 'north');
    const id = idOf(published());
    expect(await publish(folder('north.sqlite'))).to.deep.include({
      code: 1,
      stdout: '',
      stderr:
        `${folder('north.sqlite')}: it has 60 tickets of organization "north", and the snapshot that it would ` +
        'replace has 60060; to remove the records, publish it with --allow-shrink; nothing was published\n',
    });
    expect(idOf(published())).to.equal(id);
    for (const [file, ...options] of [
      [folder('nowhere.sqlite')],
      [folder('import/tickets.ndjson')],
      [folder('import/tickets.ndjson'), '--as', 'north'],
      [folder('north.sqlite'), '--as', '../north'],
      [folder('north.sqlite'), '--as', 'other'],
    ]) {
      const { code, stdout, stderr } = await publish(file, ...options);
      expect({ code, stdout, lines: stderr.split('\n').length }, stderr).to.deep.equal({
        code: 1,
        stdout: '',
        lines: 2,
      });
    }
    expect(readdirSync(served)).to.deep.equal(['north.sqlite']);
  });

  it('is told what is wrong with the environment', async () => {
    const publishIn = async (environment: Record<string, string>) =>
      runHere(main, ['publish', folder('north.sqlite')], environment);
    expect(await publishIn({ SNAPSHOT_DIR: folder('typo') })).to.deep.include({
      code: 1,
      stderr: `SNAPSHOT_DIR is ${folder('typo')}: no such folder; if the name is right, make it: mkdir -p ${folder('typo')}\n`,
    });
    expect(await publishIn({ SNAPSHOT_DIR: folder('north.sqlite') })).to.deep.include({
      code: 1,
      stderr: `SNAPSHOT_DIR is ${folder('north.sqlite')}: not a folder\n`,
    });
    const { code, stderr } = await publishIn({ SNAPSHOT_DIR: served, SNAPSHOT_POLL_SECONDS: 'often' });
    expect(code).to.equal(1);
    expect(stderr).to.match(/^Invalid environment:\n {2}SNAPSHOT_POLL_SECONDS is "often": it must be /);
    expect(readdirSync(served)).to.deep.equal([]);
  });

  it('makes the folder that is served by default, where there is none yet', async () => {
    const clone = folder('clone');
    mkdirSync(clone);
    const { ended } = new Command(SCRIPT, ['publish', folder('north.sqlite')], {}, clone);
    expect(await ended).to.deep.include({ code: 0, stderr: '' });
    expect(readdirSync(join(clone, 'data/snapshots'))).to.deep.equal(['north.sqlite']);
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`leaves nothing behind on ${signal}, and what was there as it was`, async () => {
      writeFileSync(published(), 'the one before');
      const publishing = publishLarge();
      await publishing.copying;
      publishing.command.kill(signal);
      expect(await publishing.command.ended).to.deep.include({
        code: 1,
        stdout: '',
        stderr: `interrupted by ${signal}; nothing was published\n`,
      });
      expect(readdirSync(served)).to.deep.equal(['north.sqlite']);
      expect(readFileSync(published(), 'utf8')).to.equal('the one before');
    });
  }

  it('removes what another left behind that was killed', async () => {
    const publishing = publishLarge();
    const copy = await publishing.copying;
    publishing.command.kill('SIGKILL');
    await publishing.command.ended;
    expect(readdirSync(served)).to.deep.equal([copy]);
    await publish(folder('north.sqlite'));
    expect(readdirSync(served)).to.deep.equal(['north.sqlite']);
  });

  /** Begins to publish; `copying` is the name of the copy, once it is there. */
  function publishLarge() {
    const { promise: copying, resolve } = Promise.withResolvers<string>();
    const watcher = watch(served, (_, name) => {
      if (name?.startsWith('.') !== true) return;
      watcher.close();
      resolve(name);
    });
    const parameters = ['publish', folder('large.sqlite'), '--as', 'north'];
    return { command: new Command(SCRIPT, parameters, { SNAPSHOT_DIR: served }), copying };
  }
});
