import { expect } from 'chai';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { inspectSnapshot } from '../../../src/snapshot/load/read-snapshot.ts';
import { restamp, RUN_TABLES } from '../../support/digests.ts';
import { thrownBy } from '../../support/refusal.ts';
import { expectRefused, SoundSnapshot } from '../../support/sound-snapshot.ts';

const UUID = '6f1c2a34-9b7e-4d05-8c61-2e5a7f90b3d8';
const REMEDY = 'the file is damaged; copy or build it again';
const southTickets = (verb: string) => `${verb} WHERE organization_id = 'south' AND collection = 'tickets'`;
const north = (change: string) => `UPDATE organizations SET ${change} WHERE organization_id = 'north'`;
const southRun = (collection: string) =>
  `INSERT INTO runs VALUES ('south', '${collection}', 0, 1, 10, '', '', '')`;
const ancestor = (id: string, time: string) => `INSERT INTO ancestors VALUES ('${id}', '${time}')`;

describe('The manifest reader', () => {
  const snapshot = new SoundSnapshot();

  describe('refuses a changed manifest:', () => {
    const damaged = `its manifest does not match its digest: ${REMEDY}`;
    const runs = `the runs of organization "south" do not match its digest: ${REMEDY}`;
    const unlisted = (table: string, id: string) =>
      `"${table}" has rows for "${id}", which is not in "organizations"`;
    const unknown = (name: string) => `"runs" has a row of "south" for "${name}", which is no collection`;
    for (const [statement, reason] of [
      ["UPDATE snapshot SET snapshot_id = 'x'", damaged],
      ["UPDATE snapshot SET produced_at = '2027-01-01T00:00:00.000Z'", damaged],
      ['UPDATE snapshot SET permits_rollback = 1', damaged],
      ['UPDATE snapshot SET permits_shrink = 1', damaged],
      ["UPDATE snapshot SET digest = ''", damaged],
      [north("name = 'x'"), damaged],
      [north("digest = 'x'"), damaged],
      [north("since = '2026-01-01T00:00:00Z'"), damaged],
      [north("history_digest = 'x'"), damaged],
      ["INSERT INTO organizations VALUES ('east', 'Est', '', '', '')", damaged],
      [ancestor(UUID, '2026-01-01T00:00:00Z'), damaged],
      ["DELETE FROM runs; DELETE FROM organizations WHERE organization_id = 'north'", damaged],
      [southTickets('UPDATE runs SET record_count = record_count - 1'), runs],
      [southTickets('UPDATE runs SET record_bytes = record_bytes + 1'), runs],
      [southTickets("UPDATE runs SET digest = replace(digest, substr(digest, 7, 1), '_')"), runs],
      [
        southTickets("UPDATE runs SET records_sum = replace(records_sum, substr(records_sum, 7, 1), 'x')"),
        runs,
      ],
      [southTickets("UPDATE runs SET collection = 'orders', first_row = 99"), runs],
      [southTickets('DELETE FROM runs'), runs],
      ["INSERT INTO runs VALUES ('south', 'tickets', 60, 1, 10, '', '', '')", runs],
      ["DELETE FROM organizations WHERE organization_id = 'north'", unlisted('runs', 'north')],
      [
        "INSERT INTO deletions VALUES ('east', 'tickets', 'a', '2026-11-01T00:00:00Z')",
        unlisted('deletions', 'east'),
      ],
      [southRun('forms'), unknown('forms')],
      [southRun('constructor'), unknown('constructor')],
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
    const bounds = '"runs" is out of bounds for tickets of "south" at row 0';
    const gap = 'the runs of tickets of "south" leave a gap or overlap at row 0';
    for (const [reason, ...statements] of [
      ['its snapshot_id "a\r\nb" is not a UUID', "UPDATE snapshot SET snapshot_id = 'a\r\nb'"],
      ['its snapshot_id "not a UUID" is not a UUID', ancestor('not a UUID', '2026-01-01T00:00:00Z')],
      [noTime('today'), "UPDATE snapshot SET produced_at = 'today'", ancestor(UUID, 'today')],
      [noTime('2026-01-01T00:00:00+01:00'), "UPDATE snapshot SET produced_at = '2026-01-01T00:00:00+01:00'"],
      [
        /^its organization_id "no:th" must be 1 to 128 characters/,
        `${north("organization_id = 'no:th'")}; UPDATE runs SET organization_id = 'no:th' WHERE organization_id = 'north'`,
      ],
      [
        bounds,
        ...[
          'count = 0',
          'count = -1',
          'count = 4097',
          'count = 1e15',
          'bytes = 16777217',
          'bytes = record_count - 1',
          'bytes = -1',
        ].map((change) => southTickets(`UPDATE runs SET record_${change}`)),
      ],
      [
        'the records_sum of tickets of "south" at row 0 is not 64 hexadecimal digits',
        southTickets('UPDATE runs SET records_sum = substr(records_sum, 2)'),
        southTickets("UPDATE runs SET records_sum = '-' || substr(records_sum, 2)"),
        southTickets('UPDATE runs SET records_sum = upper(records_sum)'),
      ],
      [gap, southTickets('UPDATE runs SET first_row = 1'), southTickets('UPDATE runs SET first_row = -1')],
      [
        /^the runs of offers of "north" leave a gap or overlap at row \d$/,
        "UPDATE runs SET first_row = 1 WHERE collection = 'offers' AND first_row > 0",
      ],
      [
        /^"runs" declares \d+ bytes of records, but the file has \d+ bytes$/,
        'UPDATE runs SET record_bytes = 500000',
      ],
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
        'ticket_runs has more than 1 rows, but "runs" declares 1 for tickets',
        southTickets('DELETE FROM runs'),
      ],
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
      const tables = ['organizations', 'runs', 'deletions', ...Object.values(RUN_TABLES)];
      const path = snapshot.copyWith(...tables.map((table) => `DELETE FROM ${table}`));
      restamp(path);
      expectRefused(path, 'it holds no organization');
      expect(thrownBy(() => inspectSnapshot(path), RefusedSnapshot).reason).to.equal('no-organization');
    });
  });
});
