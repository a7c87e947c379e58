import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { Random } from '../../../scripts/sample/random.ts';
import {
  diffSnapshots,
  type OrganizationDiff,
  type RecordsDiff,
  type SnapshotDiff,
} from '../../../scripts/diff/diff-snapshots.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { inspectSnapshot } from '../../../src/snapshot/load/read-snapshot.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { byDepth } from '../../support/depth.ts';
import { folderForAll } from '../../support/temporary-folder.ts';
import { alterRuns, replaceInRecords, type RunContent } from '../../support/alter-runs.ts';
import { differences } from './diff-oracle.ts';
import { reseal, type Collection } from '../../support/digests.ts';
import { inOrganization, minimalTicket, times } from '../../support/records.ts';
import { build, type Import, type ImportRecord, writeImport } from '../../support/import-folder.ts';
import { randomImport } from '../../support/random-import.ts';
import { thrownBy } from '../../support/refusal.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';
import { SoundSnapshot } from '../../support/sound-snapshot.ts';

const NOTHING: RecordsDiff = { added: [], changed: [], removed: [] };
const NO_RECORDS = { events: NOTHING, sessions: NOTHING, tickets: NOTHING, orders: NOTHING, offers: NOTHING };
/** Records of each organization of the small import. */
const COUNTS = { events: 4, sessions: 10, tickets: 60, orders: 9, offers: 5 };
/** Page size of the files that the builder writes. */
const PAGE_BYTES = 65_536;

describe('The difference of two snapshots', () => {
  const snapshot = new SoundSnapshot();
  const folder = folderForAll();
  let builds = 0;

  async function built(files: Import): Promise<string> {
    const input = folder(`import-${builds++}`);
    writeImport(input, files);
    await build(input, `${input}.sqlite`);
    return `${input}.sqlite`;
  }

  /** Returns the difference from the small import to another. */
  async function diffTo(files: Import): Promise<SnapshotDiff> {
    return diffSnapshots(snapshot.path, await built(files));
  }

  it('names both snapshots, and lists the organizations of either by id', async () => {
    const east = { organizationId: 'east', name: 'Est' };
    const of = (files: readonly ImportRecord[]) =>
      files.filter(({ organizationId }) => organizationId === 'south');
    const path = await built({
      ...Object.fromEntries(
        Object.entries<readonly ImportRecord[]>(SMALL_IMPORT).map(([k, v]) => [k, of(v)]),
      ),
      organizations: [...of(SMALL_IMPORT.organizations), east],
    });
    const none = { events: 0, sessions: 0, tickets: 0, orders: 0, offers: 0 };
    const nameOf = ({ snapshotId, producedAt }: { snapshotId: string; producedAt: string }) => ({
      snapshotId,
      producedAt,
    });
    expect(diffSnapshots(snapshot.path, path)).to.deep.equal({
      before: nameOf(snapshot.image),
      after: nameOf(inspectSnapshot(path)),
      organizations: [
        { organizationId: 'east', state: 'added', after: none },
        { organizationId: 'north', state: 'removed', before: COUNTS },
        { organizationId: 'south', state: 'unchanged' },
      ],
    });
  });

  it('lists the ids of added, changed and removed records, in list order', async () => {
    const [gone, changed, other, ...rest] = SMALL_IMPORT.tickets;
    const added = { ...gone, ticketId: '\0"\n, é' };
    const diff = await diffTo({
      ...SMALL_IMPORT,
      tickets: [
        ...rest,
        { ...other, qrCode: 'other' },
        added,
        { ...changed, issuedAt: '2030-01-01T00:00:00Z' },
      ],
    });
    expect(diff.organizations[0]).to.deep.include({
      state: 'changed',
      before: COUNTS,
      after: COUNTS,
      records: {
        ...NO_RECORDS,
        tickets: { added: ['\0"\n, é'], changed: ['tkt_1', 'tkt_2'], removed: ['tkt_0'] },
      },
    });
  });

  it('contains a session that moves to another event, and both events', async () => {
    const sessions = SMALL_IMPORT.sessions.map((session) =>
      session['id'] === 'ses_5' && session['organizationId'] === 'north'
        ? { ...session, eventId: 'evt_2' }
        : session,
    );
    const [north] = (await diffTo({ ...SMALL_IMPORT, sessions })).organizations;
    expect(recordsIn(north).sessions).to.deep.equal({ ...NOTHING, changed: ['ses_5'] });
    expect(recordsIn(north).events.changed).to.have.members(['evt_1', 'evt_2']);
  });

  it('contains an offer held by other events, but not by the same events in another order', async () => {
    const holding = (events: readonly string[]) =>
      SMALL_IMPORT.offers.map((offer) =>
        offer['offerId'] === 'off_4' && offer['organizationId'] === 'north'
          ? { ...offer, heldByEventIds: events }
          : offer,
      );
    const more = await diffTo({ ...SMALL_IMPORT, offers: holding(['evt_1', 'evt_2', 'evt_3']) });
    expect(recordsIn(more.organizations[0])).to.deep.equal({
      ...NO_RECORDS,
      offers: { ...NOTHING, changed: ['off_4'] },
    });
    const reordered = await diffTo({ ...SMALL_IMPORT, offers: holding(['evt_2', 'evt_1']) });
    expect(recordsIn(reordered.organizations[0])).to.deep.equal(NO_RECORDS);
  });

  const SEED = 3;
  const PAIRS = byDepth({ short: 3, deep: 40 });
  it(`equals that of a comparison of all records (${PAIRS} random pairs, seed ${SEED})`, async () => {
    const random = new Random(SEED);
    const states = new Set<string>();
    for (let pair = 0; pair < PAIRS; pair++) {
      const before = randomImport(random);
      const after = randomImport(random, before);
      const [a, b] = [await built(before), await built(after)];
      const { organizations } = diffSnapshots(a, b);
      expect(organizations, `pair ${pair}, seed ${SEED}`).to.deep.equal(
        differences({ image: readSnapshot(a), files: before }, { image: readSnapshot(b), files: after }),
      );
      for (const { state } of organizations) states.add(state);
    }
    expect([...states]).to.have.members(['added', 'removed', 'changed', 'unchanged']);
  });

  describe('is refused, naming the file, if one', () => {
    const refusal = (path: string) => {
      const { reason, message } = thrownBy(() => diffSnapshots(snapshot.path, path), RefusedSnapshot);
      expect(message.startsWith(`${path}: `)).to.equal(true);
      expect(thrownBy(() => diffSnapshots(path, snapshot.path), RefusedSnapshot).message).to.equal(message);
      return reason;
    };

    it('is no snapshot or absent', () => {
      writeFileSync(folder('text'), 'x'.repeat(200));
      expect(refusal(folder('text'))).to.equal('not-sqlite');
      expect(refusal(folder('nowhere'))).to.equal('unreadable');
    });

    /** Returns a sound snapshot with other tickets of "north". */
    function other(): string {
      const path = snapshot.copy();
      alterRuns(path, 'tickets', replaceInRecords('"currency":"JPY"', '"currency":"EUR"'), 'north');
      reseal(path);
      return path;
    }

    it('is damaged in a run that differs', () => {
      const path = snapshot.copyWith("UPDATE ticket_runs SET qr_code = replace(qr_code, '3', '4')");
      expect(thrownBy(() => diffSnapshots(path, other()), RefusedSnapshot).message).to.match(
        new RegExp(`^${path}: the content of organization "north" does not match its digest`),
      );
    });

    for (const [fault, collection, alter, reason] of [
      ['has a duplicate id', 'tickets', ({ records }) => (records[1] = records[0]), 'duplicate-id'],
      [
        'lacks the event of a session',
        'sessions',
        ({ columns }) => columns['event_id'].pop(),
        'inconsistent',
      ],
      ['lacks the events of an offer', 'offers', ({ columns }) => columns['event_ids'].pop(), 'inconsistent'],
    ] as readonly [string, Collection, (run: RunContent) => void, string][]) {
      it(fault, () => {
        const path = snapshot.copy();
        alterRuns(path, collection, alter, 'north');
        reseal(path);
        expect(refusal(path)).to.equal(reason);
      });
    }

    it('has a damaged page', () => {
      const path = snapshot.copyOf((bytes) => {
        const at = bytes.indexOf('"ticketId":"tkt_59"');
        const page = at - (at % PAGE_BYTES);
        return bytes.fill(0, page, page + PAGE_BYTES);
      });
      expect(thrownBy(() => diffSnapshots(other(), path), RefusedSnapshot).message).to.match(
        new RegExp(`^${path}: (SQLite cannot read it|the content of organization "north" does not match)`),
      );
    });
  });

  it('is found by reading only the runs that differ', async () => {
    const tickets = times(5000, (i) =>
      inOrganization('north')(minimalTicket(`tkt_${i}`, { issuedAt: new Date(i * 1000).toISOString() })),
    );
    // An unchanged organization is not read either.
    const { organizations, orders } = SMALL_IMPORT;
    const before = await built({ organizations, orders, tickets });
    const later = [
      ...tickets.with(2500, { ...tickets[2500], status: 'VOID' }),
      { ...tickets[7], ticketId: 'new' },
    ];
    const after = await built({ organizations, orders, tickets: later });
    let recordsRead = 0;
    const [north, south] = diffSnapshots(before, after, (records, total, list) => {
      expect(list).to.equal('tickets');
      expect(records).to.be.at.most(total);
      recordsRead = records;
    }).organizations;
    expect(south.state).to.equal('unchanged');
    expect(recordsIn(north).tickets).to.deep.equal({ added: ['new'], changed: ['tkt_2500'], removed: [] });
    expect(recordsRead).to.be.within(1, 9000);
  });
});

function recordsIn(organization: OrganizationDiff) {
  if (organization.state !== 'changed') throw new Error(`the organization is ${organization.state}`);
  return organization.records;
}
