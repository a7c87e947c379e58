import Database from 'better-sqlite3';
import { expect } from 'chai';
import { RefusedSnapshot } from '../../src/snapshot/refused-snapshot.ts';
import { inspectSnapshot } from '../../src/snapshot/inspect-snapshot.ts';
import { CONTENT_TABLES, manifestDigest, reseal } from './digests.ts';
import { thrownBy } from './refusal.ts';
import { expectRefused, SoundSnapshot } from './sound-snapshot.ts';

describe('the manifest that the reader finds', () => {
  const snapshot = new SoundSnapshot();

  describe('refuses a manifest that is not what was written', () => {
    const damaged = /^its manifest does not match its digest: the file is damaged; copy or build it again$/;
    const tickets = "WHERE organization_id = 'south' AND table_name = 'tickets'";
    for (const [statement, reason] of [
      ["UPDATE snapshot SET snapshot_id = 'x'", damaged],
      ["UPDATE snapshot SET produced_at = '2027-01-01T00:00:00.000Z'", damaged],
      ['UPDATE snapshot SET permits_rollback = 1', damaged],
      ['UPDATE snapshot SET permits_shrink = 1', damaged],
      ["UPDATE snapshot SET digest = ''", damaged],
      ["UPDATE organizations SET name = 'x' WHERE organization_id = 'north'", damaged],
      ["UPDATE organizations SET digest = 'x' WHERE organization_id = 'north'", damaged],
      [`UPDATE segments SET row_count = row_count - 1 ${tickets}`, damaged],
      [`UPDATE segments SET first_row = first_row - 1 ${tickets}`, damaged],
      [`UPDATE segments SET record_bytes = record_bytes + 1 ${tickets}`, damaged],
      [
        "DELETE FROM organizations WHERE organization_id = 'north'",
        /^"segments" has 18 rows instead of 9 for each of 1 organizations$/,
      ],
      [
        "INSERT INTO organizations VALUES ('east', 'Est', '')",
        /^"segments" has no row for events of "east"$/,
      ],
      ["INSERT INTO segments VALUES ('east', 'events', 0, 0, 0)", /^"segments" has 19 rows/],
      [`DELETE FROM segments ${tickets}`, /^"segments" has no row for tickets of "south"$/],
      [`UPDATE segments SET row_count = 1e15 ${tickets}`, /^"segments" is out of bounds for tickets$/],
      [`UPDATE segments SET first_row = -1 ${tickets}`, /^"segments" is out of bounds for tickets$/],
      ['DELETE FROM snapshot', /^its table "snapshot" has 0 rows instead of one$/],
      [
        "INSERT INTO snapshot VALUES ('x', 'y', 0, 0, 'z')",
        /^its table "snapshot" has 2 rows instead of one$/,
      ],
    ] as const) {
      it(JSON.stringify(statement), () => {
        const path = snapshot.copyWith(statement);
        expectRefused(path, reason);
        expect(thrownBy(() => inspectSnapshot(path), RefusedSnapshot).message).to.match(reason);
      });
    }
  });

  it('tells what its publisher permits', () => {
    const permitsOf = (path: string) => {
      reseal(path);
      return inspectSnapshot(path).permits;
    };
    expect(inspectSnapshot(snapshot.path).permits).to.deep.equal([]);
    expect(permitsOf(snapshot.copyWith('UPDATE snapshot SET permits_shrink = 1'))).to.deep.equal(['shrink']);
    const both = snapshot.copyWith('UPDATE snapshot SET permits_rollback = 1, permits_shrink = 1');
    expect(permitsOf(both)).to.deep.equal(['rollback', 'shrink']);
  });

  describe('refuses names and numbers that cannot be right, though the digests are', () => {
    for (const [statement, reason] of [
      ["UPDATE snapshot SET snapshot_id = 'a\r\nb'", /^its snapshot_id "a\r\nb" is not a UUID$/],
      [
        "UPDATE snapshot SET produced_at = 'today'",
        /^its produced_at "today" is not an ISO 8601 date and time in UTC$/,
      ],
      [
        "UPDATE snapshot SET produced_at = '2026-01-01T00:00:00+01:00'",
        /is not an ISO 8601 date and time in UTC$/,
      ],
      [
        "UPDATE organizations SET organization_id = 'no:th' WHERE organization_id = 'north'; UPDATE segments SET organization_id = 'no:th' WHERE organization_id = 'north'",
        /^its organization_id "no:th" must be 1 to 128 characters/,
      ],
      [
        "UPDATE segments SET row_count = row_count - 1 WHERE organization_id = 'south' AND table_name = 'tickets'",
        /^tickets has other rows than its segments count$/,
      ],
      [
        "UPDATE segments SET row_count = row_count - 1 WHERE organization_id = 'north' AND table_name = 'tickets'",
        /^the segments of tickets leave a gap or overlap$/,
      ],
      [
        "UPDATE segments SET first_row = 0 WHERE organization_id = 'south' AND table_name = 'tickets'",
        /^the segments of tickets leave a gap or overlap$/,
      ],
    ] as const) {
      it(JSON.stringify(statement), () => {
        const path = snapshot.copyWith(statement);
        reseal(path);
        expectRefused(path, reason);
      });
    }

    it('a snapshot without an organization', () => {
      const path = snapshot.copyWith(
        'DELETE FROM organizations',
        ...['segments', ...CONTENT_TABLES].map((table) => `DELETE FROM ${table}`),
      );
      reseal(path);
      expectRefused(path, 'it holds no organization');
      expect(thrownBy(() => inspectSnapshot(path), RefusedSnapshot).reason).to.equal('no-organization');
    });

    it('a record_bytes that is not the sum', () => {
      for (const [more, reason] of [
        [1, /^the records of orders are not as long as its segment says$/],
        [-1, /^the records of orders are longer than its segment says$/],
      ] as const) {
        const path = snapshot.copyWith(
          `UPDATE segments SET record_bytes = record_bytes + ${more} WHERE table_name = 'orders'`,
        );
        const database = new Database(path);
        database.prepare('UPDATE snapshot SET digest = ?').run(manifestDigest(database));
        database.close();
        expectRefused(path, reason);
      }
    });
  });
});
