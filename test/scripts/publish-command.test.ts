import { mkdirSync, readdirSync, readFileSync, statSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { main } from '../../scripts/snapshot.ts';
import { inspectSnapshot } from '../../src/snapshot/load/read-snapshot.ts';
import { Command, runHere } from '../support/command.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { inOrganization, minimalTicket, times } from '../support/records.ts';
import { build, writeImport } from '../support/import-folder.ts';
import { SMALL_IMPORT } from '../support/small-import.ts';

const SCRIPT = 'scripts/snapshot.ts';

describe('npm run snapshot -- publish', () => {
  const folder = folderForAll();
  let folders = 0;
  let snapshotDir = '';

  before(async () => {
    writeImport(folder('import'), SMALL_IMPORT);
    await build(folder('import'), folder('north.sqlite'));
    const more = times(60_000, (i) => inOrganization('north')(minimalTicket(`t${i}`)));
    writeImport(folder('more'), { ...SMALL_IMPORT, tickets: [...SMALL_IMPORT.tickets, ...more] });
    await build(folder('more'), folder('large.sqlite'));
  });

  beforeEach(() => {
    snapshotDir = folder(`served-${folders++}`);
    mkdirSync(snapshotDir);
  });

  const publish = (...parameters: readonly string[]) =>
    runHere(main, ['publish', ...parameters], { SNAPSHOT_DIR: snapshotDir });
  const published = () => join(snapshotDir, 'north.sqlite');
  const idOf = (path: string) => inspectSnapshot(path).snapshotId;

  it('reports the file, the snapshot and its permits', async () => {
    const first = await publish(folder('north.sqlite'));
    expect(first).to.include({ code: 0, stderr: '' });
    expect(first.stdout)
      .to.match(new RegExp(`^${published()}: published in \\d+\\.\\d s\n`))
      .and.include(`\n  snapshot       ${idOf(folder('north.sqlite'))}\n`)
      .and.include('\n  organizations  2\n');
    const { stdout } = await publish(folder('large.sqlite'), '--as', 'north', '--allow-shrink', '--rollback');
    expect(stdout)
      .to.include(`\n  snapshot       ${idOf(folder('large.sqlite'))}\n`)
      .and.include('\n  permits        rollback, shrink\n');
    expect((await runHere(main, ['inspect', published()])).stdout).to.match(
      /\n {2}permits +rollback, shrink\n/,
    );
  });

  it('has an option for each permit', async () => {
    await publish(folder('north.sqlite'), '--rollback');
    expect(inspectSnapshot(published()).permits).to.deep.equal(['rollback']);
    await publish(folder('north.sqlite'), '--allow-shrink');
    expect(inspectSnapshot(published()).permits).to.deep.equal(['shrink']);
  });

  it('publishes a snapshot that is ahead of the clock with --allow-future only', async () => {
    const file = folder('future.sqlite');
    await build(folder('import'), file, { producedAt: new Date('9999-01-01T00:00:00Z') });
    const { code, stderr } = await publish(file, '--as', 'north');
    expect({ code, stderr: stderr.replace(/ahead of the clock.*/, '') }).to.deep.equal({
      code: 1,
      stderr: `${file}: its production time, 9999-01-01T00:00:00.000Z, is more than 5 minutes \n`,
    });
    expect(readdirSync(snapshotDir)).to.deep.equal([]);
    expect(await publish(file, '--as', 'north', '--allow-future')).to.include({ code: 0, stderr: '' });
    expect(readdirSync(snapshotDir)).to.deep.equal(['north.sqlite']);
  });

  it('gives the reason for a refusal in one line, and publishes nothing', async () => {
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
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr.split('\n'), stderr).to.have.length(2);
    }
    expect(readdirSync(snapshotDir)).to.deep.equal(['north.sqlite']);
  });

  it('names mistakes in the environment', async () => {
    const publishIn = async (environment: Record<string, string>) =>
      runHere(main, ['publish', folder('north.sqlite')], environment);
    expect(await publishIn({ SNAPSHOT_DIR: folder('typo') })).to.deep.include({
      code: 1,
      stderr: `SNAPSHOT_DIR is ${folder('typo')}: no such folder; if the name is right, create it: mkdir -p ${folder('typo')}\n`,
    });
    expect(await publishIn({ SNAPSHOT_DIR: folder('north.sqlite') })).to.deep.include({
      code: 1,
      stderr: `SNAPSHOT_DIR is ${folder('north.sqlite')}: not a folder\n`,
    });
    const { code, stderr } = await publishIn({ SNAPSHOT_DIR: snapshotDir, SNAPSHOT_POLL_SECONDS: 'often' });
    expect(code).to.equal(1);
    expect(stderr).to.match(/^Invalid environment:\n {2}SNAPSHOT_POLL_SECONDS is "often": it must be /);
    expect(readdirSync(snapshotDir)).to.deep.equal([]);
  });

  it('creates the default snapshot folder if it is absent', async () => {
    const clone = folder('clone');
    mkdirSync(clone);
    const { ended } = new Command(SCRIPT, ['publish', folder('north.sqlite')], {}, { cwd: clone });
    expect(await ended).to.deep.include({ code: 0, stderr: '' });
    expect(statSync(join(clone, 'data/snapshots')).mode & 0o027, 'open to others').to.equal(0);
    expect(readdirSync(join(clone, 'data/snapshots'))).to.deep.equal(['north.sqlite']);
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`leaves no file behind on ${signal}, and the previous file unchanged`, async () => {
      writeFileSync(published(), 'previous file');
      const publishing = publishLarge();
      await publishing.copying;
      publishing.command.kill(signal);
      expect(await publishing.command.ended).to.deep.include({
        code: 1,
        stdout: '',
        stderr: `interrupted by ${signal}; nothing was published\n`,
      });
      expect(readdirSync(snapshotDir)).to.deep.equal(['north.sqlite']);
      expect(readFileSync(published(), 'utf8')).to.equal('previous file');
    });
  }

  it('removes the copy of a killed publication', async () => {
    const publishing = publishLarge();
    const copy = await publishing.copying;
    publishing.command.kill('SIGKILL');
    await publishing.command.ended;
    expect(readdirSync(snapshotDir)).to.deep.equal([copy]);
    await publish(folder('north.sqlite'));
    expect(readdirSync(snapshotDir)).to.deep.equal(['north.sqlite']);
  });

  /** Starts a long publication. `copying` is the name of its copy, known when the copy appears. */
  function publishLarge() {
    const { promise: copying, resolve } = Promise.withResolvers<string>();
    const watcher = watch(snapshotDir, (_, name) => {
      if (name?.startsWith('.') !== true) return;
      watcher.close();
      resolve(name);
    });
    const parameters = ['publish', folder('large.sqlite'), '--as', 'north'];
    return { command: new Command(SCRIPT, parameters, { SNAPSHOT_DIR: snapshotDir }), copying };
  }
});
