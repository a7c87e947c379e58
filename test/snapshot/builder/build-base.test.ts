import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import fc from 'fast-check';
import { EarlierSnapshot } from '../../../src/snapshot/builder/merge/earlier-snapshot.ts';
import { type BuildOptions, type BuildReport } from '../../../src/snapshot/builder/build-snapshot.ts';
import { UnreadableImport } from '../../../src/snapshot/builder/import/import-files.ts';
import type { BuildProgress } from '../../../src/snapshot/builder/staging/read-import.ts';
import { describeGroup, ImportRejected } from '../../../src/snapshot/builder/staging/rejections.ts';
import { SnapshotWriter } from '../../../src/snapshot/builder/merge/snapshot-writer.ts';
import { type CollectionLayout, COLLECTIONS, TICKETS } from '../../../src/snapshot/format/layout.ts';
import { beginsRun } from '../../../src/snapshot/format/schema.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { inspectSnapshot } from '../../../src/snapshot/load/read-snapshot.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { byDepth } from '../../support/depth.ts';
import { setDeletions } from '../../support/deletions.ts';
import { reseal, restamp } from '../../support/digests.ts';
import {
  build,
  digestsOf,
  type Import,
  type ImportRecord,
  organizationOf,
  PRODUCED_AT,
  recordsOf,
  toFile,
  writeImport,
} from '../../support/import-folder.ts';
import { inOrganization, minimalOrder, minimalTicket, times } from '../../support/records.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';
import { folderForAll, withFolder } from '../../support/temporary-folder.ts';
import { refusalOf } from '../../support/refusal.ts';
import { histories, World } from '../../support/random-history.ts';

type Deletion = Readonly<Record<'organizationId' | 'collection' | 'id', string>>;

const later = (step: number) => new Date(PRODUCED_AT.getTime() + step);
const digestsIn = (file: string) => digestsOf(readSnapshot(file, { isThorough: true }));

/** Returns the deletions of a snapshot file, in any order. */
function deletionsIn(file: string): string[] {
  const database = new Database(file, { readonly: true });
  const rows = database
    .prepare<[], string>(
      "SELECT deleted_at || ' ' || json_array(organization_id, collection, id) FROM deletions",
    )
    .pluck()
    .all();
  database.close();
  return rows.sort();
}

interface StoredRecord {
  readonly key: string;
  /** The served record, and the event of a session. */
  readonly content: string;
  readonly changedAt: string;
}

/** Returns the records of a snapshot file, with the times of their last changes. */
function recordsIn(file: string): StoredRecord[] {
  const database = new Database(file, { readonly: true });
  const ofCollection = ({ name, resource }: CollectionLayout) =>
    database
      .prepare<[], StoredRecord>(
        `SELECT json_array('${name}', organization_id, record ->> '${resource.id}') AS key,
                record || ${name === 'sessions' ? 'event_id' : "''"} AS content, changed_at AS changedAt
         FROM ${name}`,
      )
      .all();
  const records = COLLECTIONS.flatMap(ofCollection);
  database.close();
  return records;
}

function writeChanges(folder: string, files: Import, deletions: readonly (Deletion | string)[]): void {
  writeImport(folder, files);
  writeFileSync(join(folder, 'deletions.ndjson'), toFile(deletions));
}

/** Copies the tickets of the organization `north` into a snapshot that another program might write, with other runs. */
async function recut(file: string, output: string, begins: (row: number) => boolean): Promise<void> {
  using source = new EarlierSnapshot(file, later(1));
  const records = source
    .runs(TICKETS, ['north'])
    .flatMap((run) => times(run.count, (row) => ({ json: run.jsonAt(row), values: run.valuesAt(row) })))
    .map((record, row) => ({ ...record, organization: 0, beginsRun: begins(row) }));
  const writer = new SnapshotWriter(output, source.names, PRODUCED_AT.toISOString());
  for (const written of writer.write(TICKETS, records)) expect(written).to.be.greaterThan(0);
  await writer.finish(randomUUID(), [], () => undefined);
  const database = new Database(output);
  database.exec('UPDATE snapshot SET canonical_runs = 0');
  database.close();
  restamp(output);
}

describe('A build with a base', () => {
  const folder = folderForAll();
  const north = inOrganization('north');
  const base = () => folder('base.sqlite');
  let builds = 0;

  before(async () => {
    writeImport(folder('base'), SMALL_IMPORT);
    await build(folder('base'), base());
  });

  interface Changed {
    readonly report: BuildReport;
    readonly output: string;
  }

  /** Changes the base, in a new file. */
  async function change(
    files: Import,
    deletions: readonly (Deletion | string)[] = [],
    options: Partial<BuildOptions> = {},
  ): Promise<Changed> {
    const input = folder(`changes-${builds++}`);
    writeChanges(input, files, deletions);
    const output = `${input}.sqlite`;
    return { report: await build(input, output, { base: base(), producedAt: later(1), ...options }), output };
  }

  const deletion = (collection: string, id: string) => ({ organizationId: 'north', collection, id });

  it('has the content digests of a build of all records, deletions and changes, after any changes', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        await withFolder(async (inFolder) => {
          const world = new World();
          const file = inFolder('a.sqlite');
          const [whole, before] = ['whole', 'before'].map((name) => inFolder(`${name}.sqlite`));
          const keepChangesMs = 2;
          let deletions = new Map<string, string>();
          let records: ReadonlyMap<string, StoredRecord> = new Map();
          for (const [step, changes] of history.entries()) {
            const idsBefore = world.ids();
            const { deletions: deleted, ...files } = world.apply(changes);
            const producedAt = later(step);
            deletions = new Map(
              [
                ...deletions,
                ...idsBefore
                  .difference(world.ids())
                  .keys()
                  .map((id) => [id, producedAt.toISOString()] as const),
              ].filter(
                ([id, at]) =>
                  !world.ids().has(id) && Date.parse(at) > later(Math.max(0, step - keepChangesMs)).getTime(),
              ),
            );
            const input = inFolder(`changes-${step}`);
            if (step === 0) writeImport(input, files);
            else writeChanges(input, files, deleted);
            // The output replaces the base.
            await build(input, file, step === 0 ? {} : { base: file, producedAt, keepChangesMs });
            writeImport(inFolder('all'), world.all());
            if (step > 0) renameSync(whole, before);
            await build(
              inFolder('all'),
              whole,
              step === 0 ? {} : { previous: before, producedAt, keepChangesMs },
            );
            // A record with the same content has the same time.
            records = new Map(
              recordsIn(whole).map((record) => {
                const earlier = records.get(record.key);
                const isSame = earlier?.content === record.content;
                return [
                  record.key,
                  { ...record, changedAt: isSame ? earlier.changedAt : producedAt.toISOString() },
                ];
              }),
            );
            for (const built of [file, whole])
              expect(recordsIn(built), `step ${step}`).to.have.deep.members([...records.values()]);
          }
          expect(digestsIn(file)).to.deep.equal(digestsIn(whole));
          const inOrder = [...deletions].map(([id, at]) => `${at} ${id}`).sort();
          expect(deletionsIn(file)).to.deep.equal(inOrder);
          expect(deletionsIn(whole)).to.deep.equal(inOrder);
        });
      }),
      { seed: 20261122, numRuns: byDepth({ short: 2, deep: 100 }) },
    );
  });

  it('keeps the records of the base except those of the import and the deletions', async () => {
    const { report, output } = await change(
      {
        tickets: [
          { ...SMALL_IMPORT.tickets[3], status: 'NEW' },
          north(minimalTicket('more')),
          north(minimalTicket('tkt_5', { status: 'AGAIN' })),
        ],
      },
      [
        deletion('tickets', 'tkt_4'),
        deletion('tickets', 'tkt_5'),
        deletion('orders', 'none'),
        deletion('offers', 'off_4'),
      ],
    );
    expect(report.changes).to.deep.include({ replaced: 2, added: 1, deleted: 2, withoutRecord: 1 });
    expect(report.records).to.deep.equal({ events: 8, sessions: 20, tickets: 120, orders: 18, offers: 9 });
    const tickets = recordsOf(organizationOf(readSnapshot(output), 'north').tickets);
    expect(tickets.get('tkt_3')).to.include({ status: 'NEW' });
    expect(tickets.get('tkt_5')).to.include({ status: 'AGAIN' });
    expect([...tickets.keys()])
      .to.include('more')
      .and.not.include('tkt_4');
    expect(digestsIn(output)['south']).to.equal(digestsIn(base())['south']);
  });

  it('derives the summaries of events from the sessions of both', async () => {
    const { report, output } = await change(
      { sessions: [{ ...SMALL_IMPORT.sessions[4], startAt: '2030-01-01T00:00:00Z' }] },
      [deletion('sessions', 'ses_0')],
    );
    expect(report.changes).to.deep.include({ replaced: 1, added: 0, deleted: 1, withoutRecord: 0 });
    const event = recordsOf(organizationOf(readSnapshot(output), 'north').events).get('evt_0');
    expect(event).to.include({ sessionCount: 2, lastSessionStartAt: '2030-01-01T00:00:00+00:00' });
  });

  it('keeps the names of organizations that are not renamed, and adds new ones', async () => {
    const { output } = await change({
      organizations: [
        { organizationId: 'south' },
        { organizationId: 'north', name: 'N' },
        { organizationId: 'east' },
      ],
      orders: [inOrganization('east')(minimalOrder('first'))],
    });
    const names = inspectSnapshot(output).organizations.map(({ organizationId, name }) => [
      organizationId,
      name,
    ]);
    expect(names).to.deep.equal([
      ['east', 'east'],
      ['north', 'N'],
      ['south', 'Süd'],
    ]);
  });

  it('copies the runs that do not change', async () => {
    const tickets = times(6000, (i) =>
      north(minimalTicket(`t${i}`, { issuedAt: new Date(Date.UTC(2026, 0, 1) - i * 1000).toISOString() })),
    );
    writeImport(folder('runs'), { ...SMALL_IMPORT, tickets });
    await build(folder('runs'), folder('runs.sqlite'));
    const { organizations } = inspectSnapshot(folder('runs.sqlite'));
    expect(organizations[0].runs.tickets.length).to.be.within(3, 12);
    const runs = organizations.flatMap((organization) => Object.values(organization.runs).flat()).length;
    const { report } = await change({ tickets: [{ ...tickets[3000], status: 'NEW' }] }, [], {
      base: folder('runs.sqlite'),
    });
    // One run of tickets is written, and those of events and sessions of both organizations.
    expect(report.changes?.runs).to.deep.equal({ copied: runs - 5, written: 5 });
  });

  describe('cuts the runs of a build of all records from a base that another writer cut', () => {
    // Some of the ids begin a run.
    const tickets = times(4500, (i) => north(minimalTicket(`t${i}`)));
    for (const [where, begins] of [
      ['every 100 records', (row: number) => row % 100 === 0],
      ['by number alone', () => false],
      ['at some of the same records', (row: number) => row % 2 === 0 && beginsRun(`t${row}`)],
    ] as const) {
      it(where, async () => {
        const [built, foreign] = ['built', 'foreign'].map((name) => folder(`${name}-${builds++}`));
        writeImport(built, { organizations: [{ organizationId: 'north' }], tickets });
        await build(built, `${built}.sqlite`);
        await recut(`${built}.sqlite`, foreign, begins);
        expect(digestsIn(foreign)).to.not.deep.equal(digestsIn(`${built}.sqlite`));
        const { output } = await change({ tickets: [] }, [], { base: foreign });
        expect(digestsIn(output)).to.deep.equal(digestsIn(`${built}.sqlite`));
      });
    }
  });

  describe('cuts the runs of a build of all records, where they end at 16 MiB, with', () => {
    const organizations = [{ organizationId: 'north' }];
    const wide = (i: number, width = 520_000) =>
      north(minimalOrder(`ord_${10 + i}`, { paymentMethod: 'é'.repeat(width) }));
    const orders = times(36, (i) => wide(i));
    const wideBase = () => folder('wide.sqlite');
    before(async () => {
      writeImport(folder('wide'), { organizations, orders });
      await build(folder('wide'), wideBase());
    });

    const cases: [string, ImportRecord[], number[], { copied: number; written: number }][] = [
      ['a smaller first record of the second run', [wide(16, 1)], [], { copied: 0, written: 3 }],
      ['a record less in the first run', [], [3], { copied: 0, written: 3 }],
      ['no first record of the second run', [], [16], { copied: 1, written: 2 }],
      ['a change in the last run', [wide(35, 5)], [], { copied: 2, written: 1 }],
    ];
    for (const [what, changed, deleted, runs] of cases) {
      it(what, async () => {
        const ids = new Set(changed.map((order) => order['orderId']));
        const left = orders.filter((order, i) => !ids.has(order['orderId']) && !deleted.includes(i));
        const deletions = deleted.map((i) => deletion('orders', String(orders[i]['orderId'])));
        const after = folder(`after-${builds++}`);
        writeImport(after, { organizations, orders: [...left, ...changed] });
        await build(after, `${after}.sqlite`);
        const { output, report } = await change({ orders: changed }, deletions, { base: wideBase() });
        expect(digestsIn(output)).to.deep.equal(digestsIn(`${after}.sqlite`));
        expect(report.changes?.runs).to.deep.equal(runs);
      });
    }
  });

  describe('refuses', () => {
    const [ticket] = SMALL_IMPORT.tickets;
    for (const [what, files, deletions, ...expected] of [
      [
        'a deletion that leaves a session without its event, and names the session',
        {},
        [deletion('events', 'evt_3')],
        'BASE: eventId must be an event of the organization, found "evt_3" in sessions "ses_3": 2 records',
      ],
      [
        'deletions that leave an event without a session, and names the event',
        {},
        ['ses_3', 'ses_7'].map((id) => deletion('sessions', id)),
        'BASE: id must have a session, found "evt_3" in events "evt_3": 1 record',
      ],
      [
        'an id that occurs twice in the import',
        { tickets: [ticket, ticket] },
        [],
        'tickets.ndjson: ticketId must be unique, found "tkt_0" also on line 1: line 2',
      ],
      [
        'deletions that name no collection or organization',
        {},
        [{ ...deletion('tickets', 'tkt_0'), organizationId: 'west' }, deletion('ticket', 'tkt_0'), 'tkt_0'],
        'deletions.ndjson: organizationId must be in the base or in organizations.ndjson, found "west": line 1',
        'deletions.ndjson: collection must be one of events, sessions, tickets, orders, offers, found "ticket": line 2',
        'deletions.ndjson: the line must be a JSON object, found tkt_0: line 3',
      ],
    ] satisfies [string, Import, (Deletion | string)[], ...string[]][]) {
      it(what, async () => {
        const { groups } = await refusalOf(change(files, deletions), ImportRejected);
        const found = groups.map((group) => describeGroup(group).replace(base(), 'BASE'));
        expect(found).to.deep.equal(expected);
      });
    }

    it('such deletions beside a bad line, and counts records of the base apart from lines', async () => {
      const deletions = ['bad', deletion('events', 'evt_3'), deletion('sessions', 'ses_5')];
      expect((await refusalOf(change({}, deletions), ImportRejected)).message).to.equal(
        'the import contains 1 bad line and contradicts 2 records of the base',
      );
    });

    it('a base that is damaged, or not earlier, and deletions without a base', async () => {
      const changed = (options: Partial<BuildOptions>) => change({ tickets: [ticket] }, [], options);
      const older = await refusalOf(changed({ producedAt: PRODUCED_AT }), RefusedSnapshot);
      expect(older.reason).to.equal('older');
      await refusalOf(changed({ base: undefined }), UnreadableImport);
      const damaged = folder('damaged.sqlite');
      writeFileSync(damaged, readFileSync(base()));
      const database = new Database(damaged);
      database.exec(`UPDATE ticket_runs SET records = replace(records, 'tkt_1"', 'tkt_x"')`);
      database.close();
      expect((await refusalOf(changed({ base: damaged }), RefusedSnapshot)).reason).to.equal('damaged');
    });

    it('a base with a malformed history, also under matching digests', async () => {
      const copy = () => {
        const path = folder(`${randomUUID()}.sqlite`);
        writeFileSync(path, readFileSync(base()));
        return path;
      };
      const [deletions, changes] = [copy(), copy()];
      setDeletions(deletions, {
        north: [{ collection: 'forms', id: 'gone', deletedAt: '2026-01-01T00:00:00Z' }],
      });
      const database = new Database(changes);
      database.exec("UPDATE ticket_runs SET changed_at = replace(changed_at, '-', '_')");
      database.close();
      reseal(changes);
      for (const path of [deletions, changes]) {
        const { reason } = await refusalOf(change({}, [], { base: path }), RefusedSnapshot);
        expect(reason).to.equal('inconsistent');
      }
    });
  });

  it('leaves the base as it was when it is aborted, although the output has its name', async () => {
    const before = readFileSync(base());
    const entries = readdirSync(folder('.')).length;
    const abort = new AbortController();
    const input = folder('aborted');
    writeChanges(input, { tickets: [SMALL_IMPORT.tickets[0]] }, []);
    const options = {
      base: base(),
      producedAt: later(1),
      signal: abort.signal,
      onProgress: ({ step }: BuildProgress) => {
        if (step === 'written') abort.abort(new Error('stopped'));
      },
    };
    expect((await refusalOf(build(input, base(), options), Error)).message).to.equal('stopped');
    expect(readFileSync(base()).equals(before)).to.equal(true);
    expect(readdirSync(folder('.'))).to.have.length(entries + 1);
  });
});
