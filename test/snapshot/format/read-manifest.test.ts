import { expect } from 'chai';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { inspectSnapshot } from '../../../src/snapshot/load/read-snapshot.ts';
import { restamp, RUN_TABLES } from '../../support/digests.ts';
import { thrownBy } from '../../support/refusal.ts';
import { expectRefused, SoundSnapshot } from '../../support/sound-snapshot.ts';

const UUID = '6f1c2a34-9b7e-4d05-8c61-2e5a7f90b3d8';
const SOUTH_TICKETS = "WHERE organization_id = 'south' AND collection = 'tickets'";

describe('The manifest reader', () => {
  const snapshot = new SoundSnapshot();

  describe('refuses a changed manifest:', () => {
    const remedy = 'the file is damaged; copy or build it again';
    const damaged = `its manifest does not match its digest: ${remedy}`;
    const runs = `the runs of organization "south" do not match its digest: ${remedy}`;
    const unknown = (name: string) => `"runs" has a row of "south" for "${name}", which is no collection`;
    for (const [statement, reason] of [
      ["UPDATE snapshot SET snapshot_id = 'x'", damaged],
      ["UPDATE snapshot SET produced_at = '2027-01-01T00:00:00.000Z'", damaged],
      ['UPDATE snapshot SET permits_rollback = 1', damaged],
      ['UPDATE snapshot SET permits_shrink = 1', damaged],
      ["UPDATE snapshot SET digest = ''", damaged],
      ["UPDATE organizations SET name = 'x' WHERE organization_id = 'north'", damaged],
      ["UPDATE organizations SET digest = 'x' WHERE organization_id = 'north'", damaged],
      ["UPDATE organizations SET since = '2026-01-01T00:00:00Z' WHERE organization_id = 'north'", damaged],
      ["UPDATE organizations SET history_digest = 'x' WHERE organization_id = 'north'", damaged],
      ["INSERT INTO organizations VALUES ('east', 'Est', '', '', '')", damaged],
      [`INSERT INTO ancestors VALUES ('${UUID}', '2026-01-01T00:00:00Z')`, damaged],
      ["DELETE FROM runs; DELETE FROM organizations WHERE organization_id = 'north'", damaged],
      [`UPDATE runs SET record_count = record_count - 1 ${SOUTH_TICKETS}`, runs],
      [`UPDATE runs SET record_bytes = record_bytes + 1 ${SOUTH_TICKETS}`, runs],
      [`UPDATE runs SET digest = replace(digest, substr(digest, 7, 1), '_') ${SOUTH_TICKETS}`, runs],
      [`UPDATE runs SET collection = 'orders', first_row = 99 ${SOUTH_TICKETS}`, runs],
      [`DELETE FROM runs ${SOUTH_TICKETS}`, runs],
      ["INSERT INTO runs VALUES ('south', 'tickets', 60, 1, 10, '', '')", runs],
      [
        "DELETE FROM organizations WHERE organization_id = 'north'",
        '"runs" has rows for "north", which is not in "organizations"',
      ],
      ["INSERT INTO runs VALUES ('south', 'forms', 0, 1, 10, '', '')", unknown('forms')],
      ["INSERT INTO runs VALUES ('south', 'constructor', 0, 1, 10, '', '')", unknown('constructor')],
      [
        "INSERT INTO deletions VALUES ('east', 'tickets', 'gone', '2026-11-01T00:00:00Z')",
        '"deletions" has rows for "east", which is not in "organizations"',
      ],
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
    const southTickets = (change: string, reason: RegExp) =>
      [`UPDATE runs SET ${change} ${SOUTH_TICKETS}`, reason] as const;
    const bounds = /^"runs" is out of bounds for tickets of "south" at row 0$/;
    const gap = /^the runs of tickets of "south" leave a gap or overlap at row 0$/;
    for (const [statement, reason] of [
      ["UPDATE snapshot SET snapshot_id = 'a\r\nb'", /^its snapshot_id "a\r\nb" is not a UUID$/],
      [
        "UPDATE snapshot SET produced_at = 'today'",
        /^its time "today" is not an ISO 8601 date and time in UTC$/,
      ],
      [
        "UPDATE snapshot SET produced_at = '2026-01-01T00:00:00+01:00'",
        /is not an ISO 8601 date and time in UTC$/,
      ],
      [
        "UPDATE organizations SET organization_id = 'no:th' WHERE organization_id = 'north'; UPDATE runs SET organization_id = 'no:th' WHERE organization_id = 'north'",
        /^its organization_id "no:th" must be 1 to 128 characters/,
      ],
      ...['= 0', '= -1', '= 4097', '= 1e15'].map((count) => southTickets(`record_count ${count}`, bounds)),
      ...['= 16777217', '= record_count - 1', '= -1'].map((bytes) =>
        southTickets(`record_bytes ${bytes}`, bounds),
      ),
      ...['= 1', '= -1'].map((row) => southTickets(`first_row ${row}`, gap)),
      [
        "UPDATE runs SET first_row = 1 WHERE collection = 'offers' AND first_row > 0",
        /^the runs of offers of "north" leave a gap or overlap at row \d$/,
      ],
      [
        'UPDATE runs SET record_bytes = 500000',
        /^"runs" declares \d+ bytes of records, but the file has \d+ bytes$/,
      ],
      ...(
        [
          ['not a UUID', '2026-01-01T00:00:00Z', 'its snapshot_id "not a UUID" is not a UUID'],
          [UUID, 'today', 'its time "today" is not an ISO 8601 date and time in UTC'],
          [UUID, '2027-01-01T00:00:00Z', 'its snapshot of 2026-.* is not later than the ancestor before it'],
        ] as const
      ).map(
        ([id, at, reason]) =>
          [`INSERT INTO ancestors VALUES ('${id}', '${at}')`, new RegExp(`^${reason}`)] as const,
      ),
      [
        `INSERT INTO ancestors VALUES ('${UUID}', '2026-01-02T00:00:00Z'), ('${UUID.replace('6', '7')}', '2026-01-01T00:00:00Z')`,
        /^its snapshot of 2026-01-01T00:00:00Z is not later than the ancestor before it$/,
      ],
      [
        "UPDATE organizations SET since = '2027-01-01T00:00:00Z' WHERE organization_id = 'north'",
        /^the history of organization "north" begins after the snapshot$/,
      ],
      [
        `DELETE FROM runs ${SOUTH_TICKETS}`,
        /^ticket_runs has more than 1 rows, but "runs" declares 1 for tickets$/,
      ],
    ] as const) {
      it(JSON.stringify(statement), () => {
        const path = snapshot.copyWith(statement);
        restamp(path);
        expectRefused(path, reason);
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
