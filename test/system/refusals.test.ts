import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { type RefusalReason, REFUSALS } from '../../src/snapshot/format/refused-snapshot.ts';
import {
  alteredCopy,
  asOf,
  asOrganization,
  asSnapshot,
  type Change,
  change,
  snapshotIdOf,
} from '../support/altered-snapshot.ts';
import { run } from '../support/command.ts';
import { buildFile } from '../support/import-folder.ts';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { smallImport } from '../support/small-import.ts';
import { folderForAll } from '../support/temporary-folder.ts';

/** Adds a megabyte to every ticket. */
const LONG_TICKETS = `UPDATE tickets SET record = replace(record, '"currency"', printf('"pad":"%.*c","currency"', 1000000, '0'))`;

/** Snapshots with valid digests, newer than the live one, that the process refuses. test/snapshot has every reason. */
const REFUSED = {
  older: [asOf(-1)],
  'organization-gone': [asOrganization('another')],
  memory: [LONG_TICKETS],
} satisfies Partial<Record<RefusalReason, readonly Change[]>>;
const EACH_REFUSED = Object.keys(REFUSED) as (keyof typeof REFUSED)[];
const EACH_BAD = [...EACH_REFUSED, 'unfinished', 'damaged'] as const;

interface Refused {
  readonly file: string;
  readonly reason: string;
  readonly detail: string;
}

describe('A file in the snapshot folder', () => {
  const inFolder = folderForAll();
  const inSnapshots = (name: string) => inFolder(`snapshots/${name}.sqlite`);
  const credentials = new Map<string, string>();
  /** Number of the snapshot of an organization that is live first. The organization of a bad file has its reason as id. */
  const FIRST = 100;
  let replica: ReplicaUnderTest;
  let next = 1000;

  before(async () => {
    mkdirSync(inFolder('snapshots'));
    await buildFile(smallImport(['north']), inFolder('single.sqlite'));
    for (const reason of EACH_BAD) publish(drafted(reason, FIRST), reason);
    for (const id of EACH_BAD) credentials.set(id, newCredential(inFolder, id));
    replica = await ReplicaUnderTest.start(inFolder, { MEMORY_LIMIT_MB: '288' });
    for (const file of EACH_BAD) await isLive(file, FIRST);

    // All files change at once, so that few polls see all of them.
    for (const reason of EACH_REFUSED) publish(drafted(reason, next++, ...REFUSED[reason]), reason);
    writeFileSync(`${inSnapshots('unfinished')}-journal`, '');
    publish(drafted('unfinished'), 'unfinished');
    const damaged = drafted('damaged');
    change(damaged, [`UPDATE tickets SET record = replace(record, '"JPY"', '"EUR"')`]);
    publish(damaged, 'damaged');
  });

  after(() => replica.end());

  /** Makes a valid snapshot of one organization, by default newer than all before it. */
  function drafted(organizationId: string, n = next++, ...changes: readonly Change[]): string {
    const single = inFolder('single.sqlite');
    return alteredCopy(single, inFolder('draft'), asOrganization(organizationId), asSnapshot(n), ...changes);
  }

  const isLive = (file: string, n: number, from = 0) =>
    replica.waitForLog({ msg: 'snapshot live', file: `${file}.sqlite`, snapshotId: snapshotIdOf(n) }, from);
  const isRefused = (file: string, reason: RefusalReason, from = 0) =>
    replica.waitForLog({ msg: 'snapshot refused', file: `${file}.sqlite`, reason }, from);

  /** Renames a draft into the snapshot folder. */
  function publish(draft: string, file: string): void {
    renameSync(draft, inSnapshots(file));
  }

  /** Expects that an organization is served from its `n`th snapshot. */
  async function expectServed(organizationId: string, n: number): Promise<void> {
    const { status, headers } = await replica.request('/v1/tickets', credentials.get(organizationId) ?? '');
    const served = [status, headers['service-snapshot-id']];
    expect(served, organizationId).to.deep.equal([200, snapshotIdOf(n)]);
  }

  const refused = async () => (await replica.status<{ refused: readonly Refused[] }>()).refused;

  for (const reason of EACH_BAD) {
    it(`is refused as ${reason}`, async () => {
      const { detail } = await isRefused(reason, reason);
      if (reason === 'memory')
        expect(detail).to.match(/the limit is 288 MB, set by MEMORY_LIMIT_MB: \d+ MB is missing/);
      await expectServed(reason, FIRST);
      const listed = (await refused()).find(({ file }) => file === `${reason}.sqlite`);
      expect(listed).to.include({ reason, detail, advice: REFUSALS[reason] });
    });
  }

  it('goes live once a valid file replaces it, or its journal is removed, and leaves the list of refusals', async () => {
    publish(drafted('damaged'), 'damaged');
    await isLive('damaged', next - 1);
    await expectServed('damaged', next - 1);
    rmSync(`${inSnapshots('unfinished')}-journal`);
    await isLive('unfinished', 1000 + EACH_REFUSED.length);
    const files = (await refused()).map(({ file }) => file);
    expect(files).to.include('memory.sqlite').and.not.include.oneOf(['damaged.sqlite', 'unfinished.sqlite']);
  });

  it('goes live with the permits of its publication, which cover no later file', async () => {
    const draft = drafted('older', 50, 'DELETE FROM tickets WHERE row > 9');
    const command = ['publish', draft, '--as', 'older', '--rollback', '--allow-shrink'];
    const { code, stderr } = await run('scripts/snapshot.ts', command, {
      SNAPSHOT_DIR: inFolder('snapshots'),
    });
    expect(code, stderr).to.equal(0);
    await isLive('older', 50);
    const seen = replica.log.length;
    publish(drafted('older', 49), 'older');
    await isRefused('older', 'older', seen);
    await expectServed('older', 50);
  });
});
