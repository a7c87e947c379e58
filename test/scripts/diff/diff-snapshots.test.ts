import { expect } from 'chai';
import { diffSnapshots } from '../../../scripts/diff/diff-snapshots.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { byCollection } from '../../../src/snapshot/format/layout.ts';
import { type ListContent, replaceInRecords } from '../../support/alter-records.ts';
import type { Collection } from '../../support/digests.ts';
import { recordsIn, times } from '../../support/records.ts';
import { builtFrom, type Import } from '../../support/import-folder.ts';
import { thrownBy } from '../../support/refusal.ts';
import { SMALL_IMPORT, smallImport } from '../../support/small-import.ts';
import { SoundSnapshot } from '../../support/sound-snapshot.ts';
import { folderForAll } from '../../support/temporary-folder.ts';

describe('The difference of two snapshots', () => {
  const snapshot = new SoundSnapshot();
  const inFolder = folderForAll();
  let builds = 0;

  async function build(files: Import) {
    const folder = inFolder(`build-${builds++}`);
    return { file: `${folder}/snapshot.sqlite`, image: (await builtFrom(folder, files)).image };
  }

  it('has the ids of each collection that were added, changed and removed, by what the records belong to, too', async () => {
    const { events, sessions, tickets, orders, offers } = smallImport(['north']);
    const { file } = await build({
      organizations: ['east', 'north'].map((organizationId) => ({ organizationId })),
      events: events.with(0, { ...events[0], title: 'new' }),
      sessions: sessions.with(5, { ...sessions[5], eventId: 'evt_2' }),
      tickets: [...tickets.slice(1), { ...tickets[0], ticketId: 'tkt_new' }],
      orders: orders.with(3, { ...orders[3], paymentMethod: 'new' }),
      offers: offers.with(3, { ...offers[3], heldByEventIds: ['evt_1', 'evt_2'] }),
    });
    const { before, organizations } = diffSnapshots(snapshot.path, file);
    const { snapshotId, producedAt } = snapshot.image;
    expect(before).to.deep.equal({ snapshotId, producedAt });
    const counts = { events: 4, sessions: 10, tickets: 60, orders: 9, offers: 5 };
    const none = { added: [], changed: [], removed: [] };
    expect(organizations).to.deep.equal([
      { organizationId: 'east', state: 'added', after: byCollection(() => 0) },
      {
        organizationId: 'north',
        state: 'changed',
        before: counts,
        after: counts,
        records: {
          // In list order. Two have other sessions.
          events: { ...none, changed: ['evt_2', 'evt_1', 'evt_0'] },
          sessions: { ...none, changed: ['ses_5'] },
          tickets: { ...none, added: ['tkt_new'], removed: ['tkt_0'] },
          orders: { ...none, changed: ['ord_3'] },
          offers: { ...none, changed: ['off_3'] },
        },
      },
      { organizationId: 'south', state: 'removed', before: counts },
    ]);
  });

  describe('is refused, naming the file, if one', () => {
    const refusal = (path: string) => {
      const { reason, message } = thrownBy(() => diffSnapshots(snapshot.path, path), RefusedSnapshot);
      expect(message.startsWith(`${path}: `)).to.equal(true);
      expect(thrownBy(() => diffSnapshots(path, snapshot.path), RefusedSnapshot).message).to.equal(message);
      return reason;
    };

    for (const [fault, collection, alter, reason] of [
      [
        'has a duplicate id',
        'tickets',
        ({ records, columns }) => {
          for (const values of [records, columns['ticket_id']]) values[1] = values[0];
        },
        'duplicate-id',
      ],
      ['has a record without its id', 'tickets', ({ records }) => (records[0] = '{}'), 'inconsistent'],
      ['has a number in a list', 'offers', ({ columns }) => (columns['event_ids'][0] = [1]), 'inconsistent'],
    ] as readonly [string, Collection, (content: ListContent) => void, string][]) {
      it(fault, () => {
        expect(refusal(snapshot.altered(collection, alter))).to.equal(reason);
      });
    }

    it('is damaged in a list that differs', () => {
      const before = snapshot.altered('tickets', replaceInRecords('"currency":"JPY"', '"currency":"EUR"'));
      for (const path of [
        snapshot.copyWith("UPDATE tickets SET qr_code = replace(qr_code, '3', '4')"),
        snapshot.copyOf((bytes) => {
          const at = bytes.indexOf('"ticketId":"tkt_59"');
          const pageBytes = bytes.readUInt16BE(16);
          const page = at - (at % pageBytes);
          return bytes.fill(0, page, page + pageBytes);
        }),
      ]) {
        expect(thrownBy(() => diffSnapshots(before, path), RefusedSnapshot).message).to.match(
          new RegExp(`^${path}: (SQLite cannot read it|the tickets of organization "north" do not match)`),
        );
      }
    });
  });

  it('is found by reading only the lists that differ', async () => {
    const { ticket } = recordsIn('north');
    const tickets = times(5000, (i) => ticket(`tkt_${i}`, { issuedAt: new Date(i * 1000).toISOString() }));
    // An unchanged organization is not read either.
    const { organizations, orders } = SMALL_IMPORT;
    const before = await build({ organizations, orders, tickets });
    const after = await build({
      organizations,
      orders,
      tickets: [
        ...tickets.with(2500, { ...tickets[2500], status: 'VOID' }),
        { ...tickets[7], ticketId: 'new' },
      ],
    });
    let recordsRead = 0;
    const [north, south] = diffSnapshots(before.file, after.file, (records, total, list) => {
      expect(list).to.equal('tickets');
      expect(total).to.equal(10_001);
      recordsRead = records;
    }).organizations;
    expect(south.state).to.equal('unchanged');
    expect(north).to.have.deep.nested.property('records.tickets', {
      added: ['new'],
      changed: ['tkt_2500'],
      removed: [],
    });
    expect(recordsRead).to.equal(10_001);
  });
});
