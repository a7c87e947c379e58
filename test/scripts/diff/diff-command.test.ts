import { expect } from 'chai';
import { diffSnapshots } from '../../../scripts/diff/diff-snapshots.ts';
import { inspectSnapshot } from '../../../src/snapshot/format/open-snapshot.ts';
import { buildFile } from '../../support/import-folder.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';
import { SnapshotCommand } from '../snapshot-command.ts';

describe('npm run snapshot -- diff', () => {
  const command = new SnapshotCommand();
  const earlier = () => command.folder('good.sqlite');
  const later = () => command.folder('later.sqlite');

  before(() => {
    const organizations = [...SMALL_IMPORT.organizations, { organizationId: 'east' }];
    const tickets = SMALL_IMPORT.tickets.map((ticket, i) =>
      ticket['organizationId'] === 'south' && i % 2 === 0 ? { ...ticket, ticketId: `new "${i}"` } : ticket,
    );
    return buildFile({ ...SMALL_IMPORT, organizations, tickets }, later());
  });

  it('prints the changed organizations, their counts, and the first ids of each kind', async () => {
    const { snapshotId, producedAt } = inspectSnapshot(earlier());
    expect(await command.outputOf('diff @good.sqlite @later.sqlite'))
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
    expect(await command.outputOf('diff --all @good.sqlite @later.sqlite'))
      .to.match(/\n {2}tickets removed \(30\):\n( {4}"tkt_\d+"\n){30}/)
      .and.not.include('more');
  });

  it('prints the same as one JSON object with --json', async () => {
    const stdout = await command.outputOf('diff --json @good.sqlite @later.sqlite');
    expect(JSON.parse(stdout)).to.deep.equal(diffSnapshots(earlier(), later()));
  });

  it('reports equal snapshots as unchanged', async () => {
    expect(await command.outputOf('diff @good.sqlite @good.sqlite')).to.match(
      /\norganizations: 0 added, 0 removed, 0 changed, 2 unchanged\n$/,
    );
  });
});
