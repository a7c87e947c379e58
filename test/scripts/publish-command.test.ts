import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { inspectSnapshot } from '../../src/snapshot/format/open-snapshot.ts';
import { build, buildFile } from '../support/import-folder.ts';
import { smallImport } from '../support/small-import.ts';
import { appearance, LARGE_IMPORT, SnapshotCommand } from './snapshot-command.ts';

describe('npm run snapshot -- publish', () => {
  const command = new SnapshotCommand();
  const { folder } = command;
  const environment = () => ({ SNAPSHOT_DIR: folder('output') });
  const published = () => folder('output/good.sqlite');

  afterEach(() => {
    for (const name of command.results) rmSync(folder(`output/${name}`));
  });

  for (const [options, permits] of [
    ['', ''],
    ['--rollback', 'rollback'],
    ['--allow-shrink', 'shrink'],
    ['--allow-shrink --rollback', 'rollback, shrink'],
  ]) {
    it(`reports the file, the snapshot and its permits: publish ${options}`, async () => {
      const stdout = await command.outputOf(`publish @good.sqlite ${options}`, environment());
      expect(stdout)
        .to.match(new RegExp(`^${published()}: published in \\d+\\.\\d s\n`))
        .and.include(`\n  snapshot       ${inspectSnapshot(folder('good.sqlite')).snapshotId}\n`)
        .and.include('\n  organizations  2\n');
      expect(/\n {2}permits +(.*)\n/.exec(stdout)?.[1] ?? '').to.equal(permits);
      expect(inspectSnapshot(published()).permits.join(', ')).to.equal(permits);
    });
  }

  it('says so when it compares with nothing, because there is no file of the name or an unreadable one', async () => {
    const comparedIn = async () =>
      /\n {2}compared +(.*)\n/.exec(await command.outputOf('publish @good.sqlite', environment()))?.[1];
    expect(await comparedIn()).to.equal(`with nothing, since ${published()} was absent`);
    expect(await comparedIn()).to.equal(undefined);
    writeFileSync(published(), 'damaged');
    expect(await comparedIn()).to.equal(`with nothing, since ${published()} was unreadable`);
  });

  it('publishes a snapshot that is ahead of the clock with --allow-future only', async () => {
    const producedAt = new Date('9999-01-01T00:00:00Z');
    await build(folder('import'), folder('future.sqlite'), { producedAt });
    expect(await command.refusalOf('publish @future.sqlite', environment())).to.match(
      /future\.sqlite: its production time, 9999-01-01T00:00:00\.000Z, is more than 5 minutes ahead of the clock/,
    );
    await command.outputOf('publish @future.sqlite --allow-future', environment());
  });

  it('gives the reason for a refusal in one line, and publishes nothing', async () => {
    await buildFile(smallImport(['north']), folder('less.sqlite'));
    await command.outputOf('publish @good.sqlite', environment());
    const bytes = readFileSync(published());
    expect(await command.refusalOf('publish @less.sqlite --as good', environment())).to.equal(
      `${folder('less.sqlite')}: it lacks organization "south" of the snapshot that it would replace, ` +
        'with its records; to remove them, permit it with --allow-shrink; nothing was published\n',
    );
    for (const parameters of ['@absent', '@import/tickets.ndjson --as good', '@good.sqlite --as ../good']) {
      const stderr = await command.refusalOf(`publish ${parameters}`, environment());
      expect(stderr.split('\n'), stderr).to.have.length(2);
    }
    expect(readFileSync(published()).equals(bytes)).to.equal(true);
  });

  it('names mistakes in the environment', async () => {
    const [typo, file] = [folder('typo'), folder('good.sqlite')];
    for (const [variables, message] of [
      [
        { SNAPSHOT_DIR: typo },
        `SNAPSHOT_DIR is ${typo}: no such folder; if the name is right, create it: mkdir -p ${typo}\n`,
      ],
      [{ SNAPSHOT_DIR: file }, `SNAPSHOT_DIR is ${file}: not a folder\n`],
      [
        { ...environment(), SNAPSHOT_POLL_SECONDS: 'often' },
        'Invalid environment:\n  SNAPSHOT_POLL_SECONDS is "often": it must be ',
      ],
    ] as const) {
      expect(await command.refusalOf('publish @good.sqlite', variables)).to.match(RegExp(`^${message}`));
    }
  });

  it('creates the default snapshot folder if it is absent', async () => {
    const cwd = folder('clone');
    mkdirSync(cwd);
    const { ended } = command.start('publish @good.sqlite', {}, { cwd });
    expect(await ended).to.deep.include({ code: 0, stderr: '' });
    expect(statSync(`${cwd}/data/snapshots`).mode & 0o027, 'open to others').to.equal(0);
    expect(inspectSnapshot(`${cwd}/data/snapshots/good.sqlite`).permits).to.deep.equal([]);
  });

  it('leaves no file behind on a full disk, and the previous file unchanged', async () => {
    writeFileSync(published(), 'previous file');
    // Files of 16 kB are not enough for the copy.
    const { code, stderr } = await command.start('publish @good.sqlite', environment(), { fileBlocks: 32 })
      .ended;
    expect(code).to.equal(1);
    expect(stderr).to.match(/^\S*good\.sqlite: EFBIG: file too large, .*; nothing was published\n$/);
    expect(command.results).to.deep.equal(['good.sqlite']);
    expect(readFileSync(published(), 'utf8')).to.equal('previous file');
  });

  it('leaves no file behind on SIGTERM, and the previous file unchanged', async () => {
    await buildFile(LARGE_IMPORT, folder('large.sqlite'));
    writeFileSync(published(), 'previous file');
    const publishing = command.start('publish @large.sqlite --as good', environment());
    await appearance(folder('output'), '.');
    publishing.kill('SIGTERM');
    expect(await publishing.ended).to.deep.include({
      code: 1,
      stdout: '',
      stderr: 'interrupted by SIGTERM; nothing was published\n',
    });
    expect(command.results).to.deep.equal(['good.sqlite']);
    expect(readFileSync(published(), 'utf8')).to.equal('previous file');
  });
});
