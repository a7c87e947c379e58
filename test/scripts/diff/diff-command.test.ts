import { expect } from 'chai';
import { main } from '../../../scripts/snapshot.ts';
import { diffSnapshots } from '../../../scripts/diff/diff-snapshots.ts';
import { inspectSnapshot } from '../../../src/snapshot/load/read-snapshot.ts';
import { runHere } from '../../support/command.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { build, writeImport } from '../../support/import-folder.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';

describe('npm run snapshot -- diff', () => {
  const folder = folderForAll();
  const earlier = () => folder('earlier.sqlite');
  const later = () => folder('later.sqlite');
  const diff = (...parameters: readonly string[]) => runHere(main, ['diff', ...parameters]);

  before(async () => {
    writeImport(folder('import'), SMALL_IMPORT);
    await build(folder('import'), earlier());
    writeImport(folder('import'), {
      ...SMALL_IMPORT,
      organizations: [...SMALL_IMPORT.organizations, { organizationId: 'east' }],
      tickets: SMALL_IMPORT.tickets.map((ticket, i) =>
        ticket['organizationId'] === 'south' && i % 2 === 0 ? { ...ticket, ticketId: `new "${i}"` } : ticket,
      ),
    });
    await build(folder('import'), later());
  });

  it('prints the changed organizations, their counts, and the first ids of each kind', async () => {
    const { code, stdout, stderr } = await diff(earlier(), later());
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const { snapshotId, producedAt } = inspectSnapshot(earlier());
    expect(stdout)
      .to.include(`from snapshot ${snapshotId}, produced at ${producedAt}\n`)
      .and.include(`to   snapshot ${inspectSnapshot(later()).snapshotId}, `)
      .and.include('organizations: 1 added, 0 removed, 1 changed, 1 unchanged\n')
      .and.match(/\neast: added\n +BEFORE {2}AFTER\n {2}events +0 +0\n/)
      .and.match(
        /\nsouth: changed\n +BEFORE {2}AFTER {2}ADDED {2}CHANGED {2}REMOVED\n(.*\n){2} {2}tickets +60 +60 +30 +0 +30\n/,
      )
      .and.match(
        /\n {2}tickets added \(30\):\n( {4}"new \\"\d+\\""\n){20} {4}… and 10 more \(--all shows them\)\n/,
      )
      .and.match(/\n {2}tickets removed \(30\):\n( {4}"tkt_\d+"\n){20} {4}… and 10 more/)
      .and.not.include('north');
  });

  it('prints all ids with --all', async () => {
    const { stdout } = await diff('--all', earlier(), later());
    expect(stdout)
      .to.match(/\n {2}tickets removed \(30\):\n( {4}"tkt_\d+"\n){30}/)
      .and.not.include('more');
  });

  it('prints the same as one JSON object with --json', async () => {
    const { stdout } = await diff('--json', earlier(), later());
    expect(JSON.parse(stdout)).to.deep.equal(diffSnapshots(earlier(), later()));
  });

  it('reports equal snapshots as unchanged', async () => {
    const { code, stdout } = await diff(earlier(), earlier());
    expect(code).to.equal(0);
    expect(stdout).to.match(/\norganizations: 0 added, 0 removed, 0 changed, 2 unchanged\n$/);
  });

  it('exits with 1 for a file of another kind, and with 2 for a missing file name', async () => {
    expect(await diff(earlier(), folder('import/tickets.ndjson'))).to.deep.include({
      code: 1,
      stdout: '',
      stderr: `${folder('import/tickets.ndjson')}: it is not an SQLite database\n`,
    });
    expect((await diff(earlier())).code).to.equal(2);
  });
});
