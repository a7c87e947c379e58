import { expect } from 'chai';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { inspectSnapshot } from '../../../src/snapshot/format/open-snapshot.ts';
import { COLLECTIONS, restamp } from '../../support/digests.ts';
import { thrownBy } from '../../support/refusal.ts';
import { expectRefused, SoundSnapshot } from '../../support/sound-snapshot.ts';

const UUID = '6f1c2a34-9b7e-4d05-8c61-2e5a7f90b3d8';
const REMEDY = 'the file is damaged; copy or build it again';
const southTickets = (verb: string) => `${verb} WHERE organization_id = 'south' AND collection = 'tickets'`;
const north = (change: string) => `UPDATE organizations SET ${change} WHERE organization_id = 'north'`;
const southList = (collection: string) =>
  `INSERT INTO lists VALUES ('south', '${collection}', 1, 1, 10, 0, 0, 10, '', '')`;
const ancestor = (id: string, time: string) => `INSERT INTO ancestors VALUES ('${id}', '${time}')`;

describe('The manifest reader', () => {
  const snapshot = new SoundSnapshot();

  describe('refuses a changed manifest:', () => {
    const damaged = `its manifest does not match its digest: ${REMEDY}`;
    const unlisted = (table: string, id: string) =>
      `"${table}" has rows for "${id}", which is not in "organizations"`;
    const unknown = (name: string) => `"lists" has a row of "south" for "${name}", which is no collection`;
    for (const [statement, reason] of [
      ["UPDATE snapshot SET snapshot_id = 'x'", damaged],
      ["UPDATE snapshot SET produced_at = '2027-01-01T00:00:00.000Z'", damaged],
      ['UPDATE snapshot SET permits_rollback = 1', damaged],
      ['UPDATE snapshot SET permits_shrink = 1', damaged],
      ["UPDATE snapshot SET digest = ''", damaged],
      [north("name = 'x'"), damaged],
      [north("since = '2026-01-01T00:00:00Z'"), damaged],
      [north("deletions_digest = 'x'"), damaged],
      ["INSERT INTO organizations VALUES ('east', 'Est', '', '')", damaged],
      [ancestor(UUID, '2026-01-01T00:00:00Z'), damaged],
      ["DELETE FROM lists; DELETE FROM organizations WHERE organization_id = 'north'", damaged],
      ...['record_count', 'record_bytes', 'text_bytes', 'list_elements', 'longest_row'].map(
        (column) => [southTickets(`UPDATE lists SET ${column} = ${column} + 1`), damaged] as const,
      ),
      [southTickets("UPDATE lists SET digest = replace(digest, substr(digest, 7, 1), '_')"), damaged],
      [
        southTickets("UPDATE lists SET records_sum = replace(records_sum, substr(records_sum, 7, 1), 'x')"),
        damaged,
      ],
      [
        "UPDATE lists SET organization_id = 'north!' WHERE organization_id = 'north'",
        unlisted('lists', 'north!'),
      ],
      [southTickets('DELETE FROM lists'), damaged],
      ["DELETE FROM organizations WHERE organization_id = 'north'", unlisted('lists', 'north')],
      ["INSERT INTO deletions VALUES ('east', 'tickets', 'a', 1)", unlisted('deletions', 'east')],
      [southList('forms'), unknown('forms')],
      [southList('constructor'), unknown('constructor')],
      ['DELETE FROM snapshot', 'its table "snapshot" has 0 rows instead of one'],
      ['INSERT INTO snapshot SELECT * FROM snapshot', 'its table "snapshot" has 2 rows instead of one'],
    ] as const) {
      it(JSON.stringify(statement), () => {
        const path = snapshot.copyWith(statement);
        expectRefused(path, reason);
        expect(thrownBy(() => inspectSnapshot(path), RefusedSnapshot).message).to.equal(reason);
      });
    }
  });

  describe('refuses invalid names and numbers under matching digests:', () => {
    const noTime = (time: string) => `its time "${time}" is not a date and time of RFC 3339 in UTC`;
    const bounds = '"lists" is out of bounds for tickets of "south"';
    for (const [reason, ...statements] of [
      ['its snapshot_id "a\r\nb" is not a UUID', "UPDATE snapshot SET snapshot_id = 'a\r\nb'"],
      ['its snapshot_id "not a UUID" is not a UUID', ancestor('not a UUID', '2026-01-01T00:00:00Z')],
      [noTime('today'), "UPDATE snapshot SET produced_at = 'today'", ancestor(UUID, 'today')],
      [noTime('2026-01-01T00:00:00+01:00'), "UPDATE snapshot SET produced_at = '2026-01-01T00:00:00+01:00'"],
      [
        /^its organization_id "no:th" must be 1 to 128 characters/,
        `${north("organization_id = 'no:th'")}; UPDATE lists SET organization_id = 'no:th' WHERE organization_id = 'north'`,
      ],
      [
        bounds,
        ...[
          'record_count = 0',
          'record_count = -1',
          'record_count = 1e15',
          'record_bytes = record_count - 1',
          'record_bytes = -1',
          'text_bytes = -1',
          'text_bytes = 1e15',
          'list_elements = -1',
          'longest_row = -1',
          'longest_row = 4194305',
        ].map((change) => southTickets(`UPDATE lists SET ${change}`)),
      ],
      [
        'the records_sum of tickets of "south" is not 64 hexadecimal digits',
        southTickets('UPDATE lists SET records_sum = substr(records_sum, 2)'),
        southTickets("UPDATE lists SET records_sum = '-' || substr(records_sum, 2)"),
        southTickets('UPDATE lists SET records_sum = upper(records_sum)'),
      ],
      [/^"lists" declares \d+ bytes, but the file has \d+ bytes$/, 'UPDATE lists SET record_bytes = 90000'],
      [
        /^its snapshot of 2026-.* is not later than the ancestor before it$/,
        ancestor(UUID, '2027-01-01T00:00:00Z'),
        `${ancestor(UUID, '2026-01-02T00:00:00Z')}; ${ancestor(UUID.replace('6', '7'), '2026-01-01T00:00:00Z')}`,
      ],
      [
        'the history of organization "north" begins after the snapshot',
        north("since = '2027-01-01T00:00:00Z'"),
      ],
      [
        'the rows of tickets are 1 to 120, but "lists" declares 60',
        southTickets('DELETE FROM lists'),
        "DELETE FROM lists WHERE organization_id = 'north' AND collection = 'tickets'",
      ],
      ['the rows of tickets are 0 to 119, but "lists" declares 120', 'UPDATE tickets SET row = row - 1'],
    ] as const) {
      it(JSON.stringify(String(reason)), () => {
        for (const statement of statements) {
          const path = snapshot.copyWith(statement);
          restamp(path);
          expectRefused(path, reason);
        }
      });
    }

    it('a snapshot without an organization', () => {
      const tables = ['organizations', 'lists', 'deletions', ...COLLECTIONS];
      const path = snapshot.copyWith(...tables.map((table) => `DELETE FROM ${table}`));
      restamp(path);
      expectRefused(path, 'it holds no organization');
      expect(thrownBy(() => inspectSnapshot(path), RefusedSnapshot).reason).to.equal('no-organization');
    });
  });
});
