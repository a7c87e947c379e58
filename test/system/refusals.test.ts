import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { type RefusalReason, REFUSALS } from '../../src/snapshot/format/refused-snapshot.ts';
import {
  alteredCopy,
  asOf,
  asOrganization,
  asSnapshot,
  type Change,
  snapshotIdOf,
} from '../support/altered-snapshot.ts';
import { alterRuns, keepFirst, replaceInRecords, type RunContent } from '../support/alter-runs.ts';
import { run } from '../support/command.ts';
import type { Collection } from '../support/digests.ts';
import { buildFile } from '../support/import-folder.ts';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { SMALL_IMPORT, smallImport } from '../support/small-import.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const runsOf =
  (collection: Collection, alter: (run: RunContent) => void): Change =>
  (path) => {
    alterRuns(path, collection, alter);
  };
/** Adds a field to every record. */
const lengthened = (bytes: number) =>
  replaceInRecords('"currency"', `"pad":"${'0'.repeat(bytes)}","currency"`);

/** Snapshots with valid digests, newer than the live one, that the process refuses. test/snapshot has every reason. */
const REFUSED = {
  'event-without-session': [
    runsOf('sessions', ({ columns }) => {
      columns['event_id'][9] = 'evt_7';
    }),
  ],
  older: [asOf(-1)],
  shrunk: [runsOf('tickets', keepFirst(29))],
  memory: [runsOf('tickets', lengthened(250_000)), runsOf('orders', lengthened(1_000_000))],
} satisfies Partial<Record<RefusalReason, readonly Change[]>>;
/** Other files, made of such a snapshot at `path`, to replace the live one at `place`. */
const SPOILED = {
  'not-a-file': (path) => {
    rmSync(path);
    execFileSync('mkfifo', [path]);
  },
  unfinished: (_, place) => {
    writeFileSync(`${place}-journal`, '');
  },
  damaged: (path) => {
    alterRuns(path, 'tickets', replaceInRecords('"JPY"', '"EUR"'));
  },
} satisfies Partial<Record<RefusalReason, (path: string, place: string) => void>>;
const EACH_REFUSED = Object.keys(REFUSED) as (keyof typeof REFUSED)[];
const EACH_SPOILED = Object.keys(SPOILED) as (keyof typeof SPOILED)[];
const EACH_BAD = [...EACH_REFUSED, ...EACH_SPOILED];

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
    await buildFile(SMALL_IMPORT, inFolder('pair.sqlite'));
    await buildFile(smallImport(['north']), inFolder('single.sqlite'));
    alteredCopy(inFolder('pair.sqlite'), inSnapshots('pair'), asSnapshot(FIRST));
    for (const reason of EACH_BAD) publish(drafted(reason, FIRST), reason);
    for (const id of [...EACH_BAD, 'north', 'south']) credentials.set(id, newCredential(inFolder, id));
    replica = await ReplicaUnderTest.start(inFolder, { MEMORY_LIMIT_MB: '256' });
    for (const file of [...EACH_BAD, 'pair']) await isLive(file, FIRST);

    // All files change at once, so that few polls see all of them.
    for (const reason of EACH_REFUSED) publish(drafted(reason, next++, ...REFUSED[reason]), reason);
    for (const reason of EACH_SPOILED) {
      const draft = drafted(reason);
      SPOILED[reason](draft, inSnapshots(reason));
      publish(draft, reason);
    }
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
        expect(detail).to.match(/the limit is 256 MB, set by MEMORY_LIMIT_MB: \d+ MB is missing/);
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
    await isLive('unfinished', 1000 + EACH_BAD.indexOf('unfinished'));
    const files = (await refused()).map(({ file }) => file);
    expect(files).to.include('memory.sqlite').and.not.include.oneOf(['damaged.sqlite', 'unfinished.sqlite']);
  });

  describe('goes live with a permit, which covers no later file:', () => {
    async function publishWith(option: string, draft: string, file: string): Promise<void> {
      const environment = { SNAPSHOT_DIR: inFolder('snapshots') };
      const command = ['publish', draft, '--as', `${file}.sqlite`, option];
      const { code, stderr } = await run('scripts/snapshot.ts', command, environment);
      expect(code, stderr).to.equal(0);
    }

    const shrunk = (tickets: number) => drafted('shrunk', next++, runsOf('tickets', keepFirst(tickets)));

    for (const [reason, option, permitted, later] of [
      ['older', '--rollback', () => drafted('older', 50), () => drafted('older', 49)],
      ['shrunk', '--allow-shrink', () => shrunk(20), () => shrunk(9)],
    ] as const) {
      it(`${reason}, with ${option}`, async () => {
        const n = reason === 'older' ? 50 : next;
        await publishWith(option, permitted(), reason);
        await isLive(reason, n);
        const seen = replica.log.length;
        publish(later(), reason);
        await isRefused(reason, reason, seen);
        await expectServed(reason, n);
      });
    }

    it('organization-gone, with --allow-shrink', async () => {
      publish(drafted('north'), 'pair');
      const { detail } = await isRefused('pair', 'organization-gone');
      expect(detail).to.match(/^it lacks organization "south" of the snapshot that it would replace/);
      await expectServed('south', FIRST);

      await publishWith('--allow-shrink', drafted('north'), 'pair');
      await isLive('pair', next - 1);
      const { status } = await replica.request('/v1/tickets', credentials.get('south') ?? '');
      expect(status, 'a removed organization').to.equal(429);
    });
  });
});
