import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  type RefusalReason,
  REFUSALS,
  TRANSIENT_REASONS,
} from '../../src/snapshot/format/refused-snapshot.ts';
import { alterRuns, keepFirst, replaceInRecords } from '../support/alter-runs.ts';
import { build, writeImport } from '../support/import-folder.ts';
import { SMALL_IMPORT } from '../support/small-import.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { alteredCopy, asOrganization, asSnapshot, restampedCopy, snapshotIdOf } from './altered-snapshot.ts';
import { BAD_FILES } from './bad-files.ts';
import { run } from '../support/command.ts';
import { type LogLine, newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';

/** Where the reasons that `BAD_FILES` lacks are tested. */
const TESTED_ELSEWHERE: Readonly<Partial<Record<RefusalReason, string>>> = {
  conflict: 'below, with two files',
  'organization-gone': 'below, with two organizations',
  memory: 'below, in a process with a low memory limit',
  timeout: 'test/resilience/load-timeout.test.ts',
  'loader-failed': 'test/resilience/faults.test.ts, since no file causes it',
};

interface Refused {
  readonly file: string;
  readonly reason: string;
  readonly detail: string;
}

/** The small import reduced to the organization "north". */
const NORTH = Object.fromEntries(
  Object.entries(SMALL_IMPORT).map(([name, records]) => [
    name,
    records.filter((record) => 'organizationId' in record && record.organizationId === 'north'),
  ]),
);

const isTransient = (reason: string) => TRANSIENT_REASONS.some((one) => one === reason);

describe('A file in the snapshot folder', () => {
  const inFolder = folderForAll();
  const inSnapshots = (name: string) => join(inFolder('snapshots'), name);
  const credentials = new Map<string, string>();
  let replica: ReplicaUnderTest;
  let next = 1000;
  /** Returns the number of the live snapshot that the `i`th bad file tries to replace. */
  const validOf = (i: number) => 100 + i;

  before(async () => {
    mkdirSync(inFolder('snapshots'));
    writeImport(inFolder('pair'), SMALL_IMPORT);
    writeImport(inFolder('single'), NORTH);
    await build(inFolder('pair'), inFolder('pair.sqlite'));
    await build(inFolder('single'), inFolder('single.sqlite'));
    for (const [i] of BAD_FILES.entries()) {
      alteredCopy(
        inFolder('single.sqlite'),
        inSnapshots(`${nameOf(i)}.sqlite`),
        asOrganization(nameOf(i)),
        asSnapshot(validOf(i)),
      );
    }
    restampedCopy(inFolder('pair.sqlite'), inSnapshots('pair.sqlite'), asSnapshot(900));
    alteredCopy(inFolder('single.sqlite'), inFolder('outside.sqlite'), asOrganization('outside'));
    for (const id of [...BAD_FILES.keys().map(nameOf), 'north', 'south', 'beacon', 'within']) {
      credentials.set(id, newCredential(inFolder, id));
    }
    replica = await ReplicaUnderTest.start(inFolder);
    for (const [i] of BAD_FILES.entries()) await isLive(`${nameOf(i)}.sqlite`, validOf(i));
    await isLive('pair.sqlite', 900);

    // All files change at once, so that few polls see all of them.
    for (const [i, { spoil, beside }] of BAD_FILES.entries()) {
      const place = inSnapshots(`${nameOf(i)}.sqlite`);
      const draft = validDraft(nameOf(i));
      spoil(draft, place);
      if (beside === undefined) rmSync(place);
      renameSync(draft, place);
      if (beside !== undefined) writeFileSync(place + beside, '');
    }
  });

  after(() => replica.end());

  /** Returns the name of the `i`th bad file, which is also that of its organization. */
  const nameOf = (i: number) => `kind-${i}`;

  /** Makes a valid snapshot of one organization, newer than all before it. */
  function validDraft(organizationId: string): string {
    return alteredCopy(
      inFolder('single.sqlite'),
      inFolder('draft'),
      asOrganization(organizationId),
      asSnapshot(next++),
    );
  }

  const isLive = (file: string, n: number, from = 0) =>
    replica.waitForLog({ msg: 'snapshot live', file, snapshotId: snapshotIdOf(n) }, from);
  const isRefused = (file: string, reason: RefusalReason, from = 0) =>
    replica.waitForLog({ msg: 'snapshot refused', file, reason }, from);

  /** Renames a draft into the snapshot folder. */
  function publish(draft: string, file: string): void {
    renameSync(draft, inSnapshots(file));
  }

  async function servedId(organizationId: string): Promise<string | undefined> {
    const { status, headers } = await replica.request('/v1/tickets', credentials.get(organizationId) ?? '');
    expect(status, organizationId).to.equal(200);
    return String(headers['service-snapshot-id']);
  }

  async function refusedByStatus(): Promise<readonly Refused[]> {
    const { refused } = JSON.parse((await replica.requestAdmin('/status')).text) as { refused: Refused[] };
    return refused;
  }

  async function refusalsCounted(): Promise<Map<string, number>> {
    const { text } = await replica.requestAdmin('/metrics');
    const samples = text.matchAll(/^foyer_snapshot_refusals_total\{reason="([\w-]+)"\} (\d+)$/gm);
    return new Map(Array.from(samples, ([, reason, count]) => [reason, Number(count)]));
  }

  /** Waits for a poll of all files: a new valid file goes live. */
  async function anotherPoll(): Promise<void> {
    const n = next;
    publish(validDraft('beacon'), 'beacon.sqlite');
    await isLive('beacon.sqlite', n);
  }

  it('has a test for every refusal reason', () => {
    const tested = [...BAD_FILES.map(({ reason }) => reason), ...Object.keys(TESTED_ELSEWHERE)];
    expect(tested).to.include.members(Object.keys(REFUSALS));
  });

  for (const [i, { kind, reason, detail }] of BAD_FILES.entries()) {
    it(`is refused as ${reason}: ${kind}`, async () => {
      const file = `${nameOf(i)}.sqlite`;
      const line = await replica.waitForLog({ msg: 'snapshot refused', file });
      expect(line['detail']).to.match(detail);
      expect(line['reason']).to.equal(reason);
      expect(await servedId(nameOf(i))).to.equal(snapshotIdOf(validOf(i)));
      const listed = (await refusedByStatus()).find((one) => one.file === file);
      expect(listed).to.include({ reason, detail: line['detail'], advice: REFUSALS[reason] });
    });
  }

  it('is counted by refusal reason', async () => {
    const expected = Map.groupBy(BAD_FILES, ({ reason }) => reason);
    const counted = await refusalsCounted();
    expect([...counted.keys()]).to.have.members(Object.keys(REFUSALS));
    for (const [reason, count] of counted) {
      const files = expected.get(reason as RefusalReason)?.length ?? 0;
      if (isTransient(reason)) expect(count, reason).to.be.at.least(files);
      else expect(count, reason).to.equal(files);
    }
  });

  it('is not retried until it changes, however often the folder is polled', async () => {
    for (let i = 0; i < 3; i++) await anotherPoll();
    for (const [i, { kind, reason }] of BAD_FILES.entries()) {
      const lines = replica.linesOf({ msg: 'snapshot refused', file: `${nameOf(i)}.sqlite` });
      // On a busy machine, these may be tried again meanwhile.
      if (!isTransient(reason)) expect(lines, kind).to.have.length(1);
      expect(await servedId(nameOf(i)), kind).to.equal(snapshotIdOf(validOf(i)));
    }
  });

  it('goes live once a valid file replaces it, and leaves the list of refusals', async () => {
    const n = next;
    const file = `${nameOf(0)}.sqlite`;
    publish(validDraft(nameOf(0)), file);
    await isLive(file, n);
    expect(await servedId(nameOf(0))).to.equal(snapshotIdOf(n));
    expect((await refusedByStatus()).map((one) => one.file)).not.to.include(file);
  });

  it('goes live once the journal beside it is removed', async () => {
    const i = BAD_FILES.findIndex(({ beside }) => beside === '-journal');
    const file = `${nameOf(i)}.sqlite`;
    rmSync(inSnapshots(`${file}-journal`));
    await replica.waitForLog({ msg: 'snapshot live', file }, replica.log.length - 1);
    expect(await servedId(nameOf(i))).not.to.equal(snapshotIdOf(validOf(i)));
  });

  it('is refused as conflict: a second file with the same organization', async () => {
    publish(validDraft('south'), 'second.sqlite');
    const line: LogLine = await isRefused('second.sqlite', 'conflict');
    expect(line['detail']).to.match(/^organization "south" is already served from pair\.sqlite/);
    expect(await servedId('south')).to.equal(snapshotIdOf(900));
    rmSync(inSnapshots('second.sqlite'));
  });

  it('may be a link within the folder', async () => {
    mkdirSync(inSnapshots('..data'));
    const n = next;
    renameSync(validDraft('within'), inSnapshots('..data/within.sqlite'));
    symlinkSync('..data/within.sqlite', inSnapshots('within.sqlite'));
    await isLive('within.sqlite', n);
    expect(await servedId('within')).to.equal(snapshotIdOf(n));
  });

  describe('goes live with a permit, which covers no later file:', () => {
    const kindOf = (reason: RefusalReason) => nameOf(BAD_FILES.findIndex((one) => one.reason === reason));

    async function publishWith(option: string, draft: string, file: string): Promise<void> {
      const environment = { SNAPSHOT_DIR: inFolder('snapshots') };
      const { code, stderr } = await run(
        'scripts/snapshot.ts',
        ['publish', draft, '--as', file, option],
        environment,
      );
      // None of them descends from the published one.
      expect(stderr).to.match(
        /^warning: the snapshot does not descend from the one that it replaces[^\n]*\n?$/,
      );
      expect(code).to.equal(0);
    }

    it('older, with --rollback', async () => {
      const organizationId = kindOf('older');
      const file = `${organizationId}.sqlite`;
      const older = (n: number) =>
        alteredCopy(
          inFolder('single.sqlite'),
          inFolder('draft'),
          asOrganization(organizationId),
          asSnapshot(n),
        );
      await publishWith('--rollback', older(50), file);
      await isLive(file, 50);
      expect(await servedId(organizationId)).to.equal(snapshotIdOf(50));
      const seen = replica.log.length;
      publish(older(49), file);
      await isRefused(file, 'older', seen);
      expect(await servedId(organizationId)).to.equal(snapshotIdOf(50));
    });

    it('shrunk, with --allow-shrink', async () => {
      const organizationId = kindOf('shrunk');
      const file = `${organizationId}.sqlite`;
      const shrunk = (n: number, tickets: number) =>
        alteredCopy(
          inFolder('single.sqlite'),
          inFolder('draft'),
          asOrganization(organizationId),
          asSnapshot(n),
          (path) => {
            alterRuns(path, 'tickets', keepFirst(tickets));
          },
        );
      const n = next++;
      await publishWith('--allow-shrink', shrunk(n, 20), file);
      await isLive(file, n);
      const seen = replica.log.length;
      publish(shrunk(next++, 9), file);
      await isRefused(file, 'shrunk', seen);
      expect(await servedId(organizationId)).to.equal(snapshotIdOf(n));
    });

    it('organization-gone, with --allow-shrink', async () => {
      publish(validDraft('north'), 'pair.sqlite');
      const { detail } = await isRefused('pair.sqlite', 'organization-gone');
      expect(detail).to.match(/^it lacks organization "south" of the snapshot that it would replace/);
      expect(await servedId('south')).to.equal(snapshotIdOf(900));

      const alone = next;
      await publishWith('--allow-shrink', validDraft('north'), 'pair.sqlite');
      await isLive('pair.sqlite', alone);
      const { status } = await replica.request('/v1/tickets', credentials.get('south') ?? '');
      expect(status, 'a removed organization').to.equal(429);

      const both = next++;
      publish(restampedCopy(inFolder('pair.sqlite'), inFolder('draft'), asSnapshot(both)), 'pair.sqlite');
      await isLive('pair.sqlite', both);
      const seen = replica.log.length;
      publish(validDraft('north'), 'pair.sqlite');
      await isRefused('pair.sqlite', 'organization-gone', seen);
      expect(await servedId('south')).to.equal(snapshotIdOf(both));
    });
  });

  it('is refused as memory: a valid one that exceeds the memory limit', async () => {
    const inOther = (name: string) => inFolder(`other-${name}`);
    mkdirSync(inOther('snapshots'));
    const place = join(inOther('snapshots'), 'small.sqlite');
    const small = (n: number) => restampedCopy(inFolder('single.sqlite'), inFolder('draft'), asSnapshot(n));
    renameSync(small(1), place);
    const credential = newCredential(inOther, 'north');
    const limited = await ReplicaUnderTest.start(inOther, { MEMORY_LIMIT_MB: '256' });
    try {
      await limited.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(1) });
      const lengthen = (by: number) => replaceInRecords('"currency"', `"pad":"${'0'.repeat(by)}","currency"`);
      renameSync(
        alteredCopy(inFolder('single.sqlite'), inFolder('draft'), asSnapshot(2), (path) => {
          alterRuns(path, 'tickets', (run) => {
            keepFirst(30)(run);
            lengthen(500_000)(run);
          });
          alterRuns(path, 'orders', lengthen(1_000_000));
        }),
        place,
      );
      const { reason, detail } = await limited.waitForLog({ msg: 'snapshot refused' });
      expect(reason).to.equal('memory');
      expect(detail).to.match(
        /the limit is 256 MB, set by MEMORY_LIMIT_MB: \d+ MB is missing; raise MEMORY_LIMIT_MB/,
      );
      const { headers } = await limited.request('/v1/tickets', credential);
      expect(headers['service-snapshot-id']).to.equal(snapshotIdOf(1));
      renameSync(small(3), place);
      await limited.waitForLog({ msg: 'snapshot live', snapshotId: snapshotIdOf(3) });
    } finally {
      await limited.end();
    }
  });
});
