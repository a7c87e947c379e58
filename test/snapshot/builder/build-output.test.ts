import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import type { BuildProgress } from '../../../src/snapshot/builder/staging/read-import.ts';
import { ImportRejected } from '../../../src/snapshot/builder/staging/rejections.ts';
import { NotPublished } from '../../../src/snapshot/publish/publish-snapshot.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { folderForEach } from '../../support/temporary-folder.ts';
import { recordsIn, times } from '../../support/records.ts';
import { build, toFile, writeImport } from '../../support/import-folder.ts';
import { refusalOf } from '../../support/refusal.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';

describe('The output of a build', () => {
  const inFolder = folderForEach();
  const good = () => inFolder('good');
  const broken = () => inFolder('broken');
  const inOutput = (name = '') => inFolder(`output/${name}`);
  const target = () => inOutput('a.sqlite');
  const outputs = () => readdirSync(inOutput());

  beforeEach(() => {
    writeImport(good(), SMALL_IMPORT);
    writeImport(broken(), { ...SMALL_IMPORT, tickets: [...SMALL_IMPORT.tickets, 'broken'] });
    mkdirSync(inOutput());
  });

  it('is a single file, under any name', async () => {
    await build(good(), inOutput('staging.sqlite'));
    expect(outputs()).to.deep.equal(['staging.sqlite']);
  });

  it('takes time in proportion to the number of sessions, also with many events', async function () {
    // Summaries that read all sessions for each event would take a minute.
    this.timeout(50_000);
    const { event, session } = recordsIn('ours');
    writeImport(inFolder('sessions'), {
      organizations: [{ organizationId: 'ours' }],
      events: times(3000, (i) => event(`evt_${i}`)),
      sessions: times(60_000, (i) => session(`ses_${i}`, `evt_${i % 3000}`)),
    });
    const { records } = await build(inFolder('sessions'), target());
    expect(records).to.include({ events: 3000, sessions: 60_000 });
  });

  it('replaces an earlier file in one step', async () => {
    writeFileSync(target(), 'the earlier file');
    const { ino } = statSync(target());
    const seen = new Set<string>();
    const report = await build(good(), target(), {
      onProgress: () => seen.add(readFileSync(target(), 'utf8')),
    });
    expect([...seen]).to.deep.equal(['the earlier file']);
    // A reader with the earlier file open keeps it.
    expect(statSync(target()).ino).to.not.equal(ino);
    expect(readSnapshot(target()).snapshotId).to.equal(report.snapshotId);
  });

  for (const isCompressed of [false, true]) {
    it(`comes with progress by bytes read${isCompressed ? ', compressed,' : ''} and records written`, async () => {
      const { tickets, ...rest } = SMALL_IMPORT;
      const compressed = { ...rest, 'tickets.ndjson.gz': gzipSync(toFile(tickets)) };
      writeImport(inFolder('input'), isCompressed ? compressed : SMALL_IMPORT);
      const progress: BuildProgress[] = [];
      await build(inFolder('input'), target(), { onProgress: (one) => progress.push(one) });
      for (const last of [
        { step: 'read', list: 'offers', records: 10, share: 1 },
        { step: 'written', list: 'tickets', records: 120, share: 148 / 176 },
      ] as const) {
        const ofStep = progress.filter(({ step }) => step === last.step);
        expect(ofStep).to.deep.include(last);
        const shares = ofStep.map(({ share }) => share);
        expect(shares).to.deep.equal(shares.toSorted((a, b) => a - b));
        expect(shares[0]).to.be.within(0.001, 0.5);
        expect(shares.at(-1)).to.equal(1);
      }
    });
  }

  it('does not replace an earlier file when lines are bad', async () => {
    writeFileSync(target(), 'the earlier file');
    await refusalOf(build(broken(), target()), ImportRejected);
    expect(outputs()).to.deep.equal(['a.sqlite']);
    expect(readFileSync(target(), 'utf8')).to.equal('the earlier file');
  });

  for (const umask of [0, 0o22, 0o77]) {
    it(`is for the owner and the group, with umask ${umask.toString(8)}`, async () => {
      const before = process.umask(umask);
      try {
        await build(good(), target());
      } finally {
        process.umask(before);
      }
      expect(statSync(target()).mode & 0o777).to.equal(0o640);
    });
  }

  it('does not replace a file that was written or removed during the build', async () => {
    const changes: (() => void)[] = [
      () => {
        writeFileSync(target(), 'another file');
      },
      () => {
        appendFileSync(target(), ', continued');
      },
      () => {
        rmSync(target());
      },
    ];
    for (const change of changes) {
      let isDone = false;
      const onProgress = () => {
        if (!isDone) change();
        isDone = true;
      };
      const { message } = await refusalOf(build(good(), target(), { onProgress }), NotPublished);
      expect(message).to.match(/: the file to replace has changed meanwhile: build or publish again$/);
      expect(outputs()).to.deep.equal(existsSync(target()) ? ['a.sqlite'] : []);
      if (existsSync(target())) expect(readFileSync(target(), 'utf8')).to.match(/^another file/);
    }
  });

  for (const option of ['base', 'previous'] as const) {
    it(`waits for another build that replaces its ${option}`, async () => {
      await build(good(), target());
      const options = { [option]: target(), producedAt: new Date('2026-11-22T00:00:00Z') };
      const other = new Database(inOutput('.a.lock')).exec('BEGIN IMMEDIATE');
      expect((await refusalOf(build(good(), target(), options), Error)).message).to.include('is locked');
      other.close();
      const { snapshotId } = await build(good(), target(), options);
      expect(readSnapshot(target()).snapshotId).to.equal(snapshotId);
    });
  }

  it('leaves no other file when the rename fails', async () => {
    mkdirSync(target());
    await refusalOf(build(good(), target()), Error);
    expect(readdirSync(inOutput(), { recursive: true })).to.deep.equal(['a.sqlite']);
  });
});
