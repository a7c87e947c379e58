import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { Random } from '../../../scripts/sample/random.ts';
import type { BuildProgress } from '../../../src/snapshot/builder/staging/read-import.ts';
import { ImportRejected } from '../../../src/snapshot/builder/staging/rejections.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { folderForEach } from '../../support/temporary-folder.ts';
import { inOrganization, minimalEvent, minimalSession, minimalTicket, times } from '../../support/records.ts';
import {
  build,
  digestsOf,
  type Import,
  type ImportRecord,
  writeImport,
} from '../../support/import-folder.ts';
import { shuffled } from '../../support/random.ts';
import { refusalOf } from '../../support/refusal.ts';
import { Builds, type BuiltFile } from '../builds.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';

const REJECTS = 'a.sqlite.rejects.ndjson';

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

  it('is a single SQLite file in rollback-journal mode with the application id, under any name', async () => {
    await build(good(), inOutput('staging.sqlite'));
    expect(outputs()).to.deep.equal(['staging.sqlite']);
    const header = readFileSync(inOutput('staging.sqlite')).subarray(0, 100);
    expect(header.toString('latin1', 0, 15)).to.equal('SQLite format 3');
    expect([header[18], header[19]]).to.deep.equal([1, 1]);
    expect(header.toString('latin1', 68, 72)).to.equal('Foyr');
  });

  it('takes time in proportion to the number of sessions, also with many events', async function () {
    // Summaries that read all sessions for each event would take a minute.
    this.timeout(50_000);
    const ours = inOrganization('ours');
    writeImport(inFolder('sessions'), {
      organizations: [{ organizationId: 'ours' }],
      events: times(3000, (i) => ours(minimalEvent(`evt_${i}`))),
      sessions: times(60_000, (i) => ours(minimalSession(`ses_${i}`, `evt_${i % 3000}`))),
    });
    const { records } = await build(inFolder('sessions'), target());
    expect(records).to.include({ events: 3000, sessions: 60_000 });
  });

  it('replaces an earlier file in one step', async () => {
    writeFileSync(target(), 'the earlier file');
    const before = openSync(target(), 'r');
    const seen = new Set<string>();
    const report = await build(good(), target(), {
      onProgress: () => seen.add(readFileSync(target(), 'utf8')),
    });
    expect([...seen]).to.deep.equal(['the earlier file']);
    expect(readSnapshot(target()).snapshotId).to.equal(report.snapshotId);
    // A reader with the earlier file open keeps it.
    const bytes = Buffer.alloc(100);
    expect(bytes.toString('utf8', 0, readSync(before, bytes))).to.equal('the earlier file');
    closeSync(before);
  });

  for (const isCompressed of [false, true]) {
    it(`comes with progress by bytes read${isCompressed ? ', compressed,' : ''} and records written`, async () => {
      const input = good();
      if (isCompressed) {
        const plain = `${input}/tickets.ndjson`;
        writeFileSync(`${plain}.gz`, gzipSync(readFileSync(plain)));
        rmSync(plain);
      }
      const progress: BuildProgress[] = [];
      await build(input, target(), { onProgress: (one) => progress.push(one) });
      for (const step of ['read', 'written'] as const) {
        const ofStep = progress.filter((one) => one.step === step);
        const shares = ofStep.map(({ share }) => share);
        expect(shares).to.deep.equal(shares.toSorted((a, b) => a - b));
        expect(shares[0]).to.be.within(0.001, 0.5);
        expect(shares.at(-1)).to.equal(1);
        expect(ofStep).to.deep.include(
          step === 'read'
            ? { step, list: 'offers', records: 10, share: 1 }
            : { step, list: 'tickets', records: 120, share: 148 / 176 },
        );
      }
    });
  }

  it('is not created when lines are bad, nor does it replace earlier files', async () => {
    await refusalOf(build(broken(), target()), ImportRejected);
    expect(outputs()).to.deep.equal([]);
    writeFileSync(target(), 'the earlier file');
    writeFileSync(inOutput(REJECTS), 'its rejects');
    await refusalOf(build(broken(), target()), ImportRejected);
    expect(readFileSync(target(), 'utf8')).to.equal('the earlier file');
    expect(readFileSync(inOutput(REJECTS), 'utf8')).to.equal('its rejects');
    expect(outputs()).to.deep.equal(['a.sqlite', REJECTS]);
  });

  it('has the skipped lines beside it, and none from an earlier build', async () => {
    const report = await build(broken(), target(), { skipInvalid: true });
    expect(report.rejected).to.equal(1);
    expect(outputs()).to.deep.equal(['a.sqlite', REJECTS]);
    const rejected = JSON.parse(readFileSync(inOutput(REJECTS), 'utf8')) as unknown;
    expect(rejected).to.deep.equal({
      file: 'tickets.ndjson',
      line: SMALL_IMPORT.tickets.length + 1,
      reasons: [{ field: '', reason: 'must be a JSON object', found: 'broken' }],
      text: 'broken',
    });
    await build(good(), target());
    expect(outputs()).to.deep.equal(['a.sqlite']);
  });

  for (const umask of [0, 0o22, 0o77]) {
    it(`and the skipped lines are for the owner and the group, with umask ${umask.toString(8)}`, async () => {
      const before = process.umask(umask);
      try {
        await build(broken(), target(), { skipInvalid: true });
      } finally {
        process.umask(before);
      }
      const modes = ['a.sqlite', REJECTS].map((name) => statSync(inOutput(name)).mode & 0o777);
      expect(modes).to.deep.equal([0o640, 0o640]);
    });
  }

  for (const moment of ['at once', 'while tickets are read', 'while offers are read']) {
    it(`is not created when the build is aborted ${moment}`, async () => {
      const controller = new AbortController();
      const reason = new Error('enough');
      if (moment === 'at once') controller.abort(reason);
      const building = build(good(), target(), {
        signal: controller.signal,
        onProgress: ({ step, list }) => {
          if (step === 'read' && moment.includes(list)) controller.abort(reason);
        },
      });
      expect(await refusalOf(building, Error)).to.equal(reason);
      expect(outputs()).to.deep.equal([]);
    });
  }

  it('leaves no other file when the rename fails', async () => {
    mkdirSync(target());
    await refusalOf(build(good(), target()), Error);
    expect(outputs()).to.deep.equal(['a.sqlite']);
    expect(existsSync(inOutput('a.sqlite/a'))).to.equal(false);
  });
});

describe('The content digest of an organization', () => {
  const { build } = new Builds();
  const random = new Random(7);
  const entries = Object.entries<readonly ImportRecord[]>(SMALL_IMPORT);
  const eachFile = (change: (lines: readonly ImportRecord[]) => readonly ImportRecord[]) =>
    Object.fromEntries(entries.map(([file, lines]) => [file, change(lines)]));
  let original: BuiltFile;

  before(async () => {
    original = await build(SMALL_IMPORT);
  });

  for (const [what, files, ids] of [
    ['the time of the build', {}, ['north', 'south']],
    ['the order of the lines', eachFile((lines) => shuffled(random, lines)), ['north', 'south']],
    [
      'dropped fields or the formatting of the lines',
      {
        tickets: SMALL_IMPORT.tickets.map(
          (ticket) =>
            ' ' + JSON.stringify(Object.fromEntries(Object.entries({ ...ticket, extra: 1 }).reverse())),
        ),
      },
      ['north', 'south'],
    ],
    [
      'additional organizations',
      { organizations: [{ organizationId: 'a' }, ...SMALL_IMPORT.organizations] },
      ['north', 'south'],
    ],
    [
      'missing organizations',
      eachFile((lines) => lines.filter(({ organizationId }) => organizationId === 'south')),
      ['south'],
    ],
  ] satisfies [string, Import, string[]][]) {
    it(`does not depend on ${what}, unlike the snapshot id`, async () => {
      const { image, report } = await build({ ...SMALL_IMPORT, ...files });
      for (const id of ids) expect(digestsOf(image)[id], id).to.equal(digestsOf(original.image)[id]);
      expect(report.snapshotId).to.not.equal(original.report.snapshotId);
    });
  }

  const first = (records: readonly ImportRecord[], more: ImportRecord) =>
    records.map((record, i) => (i === 0 ? { ...record, ...more } : record));
  for (const [what, change] of Object.entries<Import>({
    'a title': { events: first(SMALL_IMPORT.events, { title: 'new' }) },
    'the form of a start': {
      sessions: first(SMALL_IMPORT.sessions, { startAt: '2026-01-05T15:06:40+00:00' }),
    },
    'a price': { tickets: first(SMALL_IMPORT.tickets, { listPrice: 1 }) },
    'the number of tickets': {
      tickets: [inOrganization('north')(minimalTicket('more')), ...SMALL_IMPORT.tickets],
    },
    'the number of orders': { orders: SMALL_IMPORT.orders.slice(1) },
    'the event of an offer': {
      offers: SMALL_IMPORT.offers.with(3, { ...SMALL_IMPORT.offers[3], heldByEventIds: ['evt_3'] }),
    },
  })) {
    it(`changes with ${what}, and that of the other organization stays`, async () => {
      const { north, south } = digestsOf((await build({ ...SMALL_IMPORT, ...change })).image);
      expect(north).to.not.equal(digestsOf(original.image)['north']);
      expect(south).to.equal(digestsOf(original.image)['south']);
    });
  }
});
