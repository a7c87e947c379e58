import { copyFileSync, readFileSync, renameSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import fc from 'fast-check';
import type { BuildOptions } from '../../../src/snapshot/builder/build-options.ts';
import type { BuildProgress } from '../../../src/snapshot/builder/staging/read-import.ts';
import { COLLECTIONS } from '../../../src/snapshot/format/layout.ts';
import { RefusedSnapshot } from '../../../src/snapshot/format/refused-snapshot.ts';
import { inspectSnapshot } from '../../../src/snapshot/format/open-snapshot.ts';
import { NotPublished } from '../../../src/snapshot/publish/publish-snapshot.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { byDepth } from '../../support/depth.ts';
import { reseal } from '../../support/digests.ts';
import {
  build,
  digestsOf,
  type Import,
  PRODUCED_AT,
  writeImport,
  type Built,
} from '../../support/import-folder.ts';
import { recordsIn } from '../../support/records.ts';
import { smallImport, SMALL_IMPORT } from '../../support/small-import.ts';
import { withFolder } from '../../support/temporary-folder.ts';
import { histories, World } from '../../support/random-history.ts';
import { expectSameRecords, expectSameRows } from '../../support/stored-rows.ts';
import { Builds } from '../builds.ts';

const later = (step: number) => new Date(PRODUCED_AT.getTime() + step);
const digestsIn = (file: string) => digestsOf(readSnapshot(file, { isThorough: true }));
/** Returns an instant of a snapshot. */
const instantOf = (date: Date) => date.getTime() * 1000;

interface StoredRecord {
  readonly key: string;
  /** The served record, and the event of a session, or those of an offer. */
  readonly content: string;
  readonly changedAt: number;
}

/** The events of a record that its text lacks, as SQL. */
const EVENTS: Readonly<Record<string, string>> = { sessions: 'event_id', offers: 'event_ids' };

/** Reads the records of a snapshot file with the times of their last changes, and its deletions in any order. */
function storedIn(file: string) {
  const database = new Database(file, { readonly: true });
  const records = COLLECTIONS.flatMap(({ name, resource }) =>
    database
      .prepare<[], StoredRecord>(
        `SELECT json_array('${name}', organization_id, record ->> '${resource.id}') AS key,
                record || ${EVENTS[name] ?? "''"} AS content, changed_at AS changedAt
         FROM ${name}`,
      )
      .all(),
  );
  const deletions = database
    .prepare<[], [id: string, deletedAt: number]>(
      'SELECT json_array(organization_id, collection, id), deleted_at FROM deletions',
    )
    .raw()
    .all();
  database.close();
  return { records, deletions };
}

describe('A build with a base', () => {
  const { inFolder, build: built, errorOf, rejectionOf } = new Builds();
  const deletion = (collection: string, id: string) => ({ organizationId: 'north', collection, id });
  let base: Built;

  before(async () => {
    base = await built(SMALL_IMPORT);
  });

  const onBase = (options: Partial<BuildOptions> = {}) => ({
    base: base.file,
    producedAt: later(1),
    ...options,
  });
  const change = (files: Import, options: Partial<BuildOptions> = {}) => built(files, onBase(options));

  it('has the rows of a build of all records after any changes, with the time of each change and deletion', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        await withFolder(async (inFolder) => {
          const world = new World();
          const [file, whole, previous] = ['a', 'whole', 'previous'].map((name) =>
            inFolder(`${name}.sqlite`),
          );
          const keepChangesMs = 2;
          let deletions = new Map<string, number>();
          let records: ReadonlyMap<string, StoredRecord> = new Map();
          for (const [step, changes] of history.entries()) {
            const idsBefore = world.ids();
            const { deletions: deleted, ...changed } = world.apply(changes);
            const ids = world.ids();
            const producedAt = later(step);
            const now = instantOf(producedAt);
            for (const id of idsBefore.difference(ids)) deletions.set(id, now);
            const keptSince = instantOf(later(Math.max(0, step - keepChangesMs)));
            deletions = new Map([...deletions].filter(([id, at]) => !ids.has(id) && at > keptSince));
            writeImport(inFolder('all'), world.all());
            if (step === 0) {
              await build(inFolder('all'), file);
              await build(inFolder('all'), whole);
            } else {
              writeImport(inFolder('changes'), { ...changed, deletions: deleted });
              const options = { producedAt, keepChangesMs };
              // The output replaces the base.
              const report = await build(inFolder('changes'), file, { base: file, ...options });
              renameSync(whole, previous);
              const ofWhole = await build(inFolder('all'), whole, { previous, ...options });
              expect(report.records).to.deep.equal(ofWhole.records);
              const added = ids.difference(idsBefore).size;
              const replaced = COLLECTIONS.flatMap(({ name }) => changed[name]).length - added;
              expect(report.changes).to.include({ added, replaced, deleted: idsBefore.difference(ids).size });
              const isNew = ({ changedAt }: StoredRecord) => changedAt === now;
              for (const { history } of [report, ofWhole])
                expect(history?.changed).to.equal(storedIn(file).records.filter(isNew).length);
            }
            const stored = [file, whole].map(storedIn);
            // A record with the same content has the same time.
            records = new Map(
              stored[1].records.map((record) => {
                const earlier = records.get(record.key);
                const isSame = earlier?.content === record.content;
                const changedAt = isSame ? earlier.changedAt : now;
                return [record.key, { ...record, changedAt }];
              }),
            );
            for (const found of stored) {
              expect(found.records, `step ${step}`).to.have.deep.members([...records.values()]);
              expect(found.deletions, `step ${step}`).to.have.deep.members([...deletions]);
            }
            expectSameRows(file, whole, `step ${step}`);
            expect(digestsIn(file), `step ${step}`).to.deep.equal(digestsIn(whole));
          }
        });
      }),
      { seed: 20261122, numRuns: byDepth({ short: 2, deep: 100 }) },
    );
  });

  it('keeps the names of organizations that are not renamed, and adds new ones', async () => {
    const { file } = await change({
      organizations: [
        { organizationId: 'south' },
        { organizationId: 'north', name: 'N' },
        { organizationId: 'east' },
      ],
      orders: [recordsIn('east').order('first')],
    });
    const { organizations } = inspectSnapshot(file);
    expect(organizations.map(({ organizationId, name }) => `${organizationId} ${name}`)).to.deep.equal([
      'east east',
      'north N',
      'south Süd',
    ]);
  });

  it('removes the record of a deletion without an organization from each one without a line of it', async () => {
    const changed = { ...SMALL_IMPORT.tickets[1], status: 'CHANGED' };
    const anywhere = ['tkt_0', 'tkt_1', 'absent'].map((id) => ({ collection: 'tickets', id }));
    const { report, file } = await change({
      tickets: [changed],
      deletions: [...anywhere, { collection: 'tickets', id: 'tkt_2', organizationId: null }],
    });
    const gone = ['south tkt_1', ...['tkt_0', 'tkt_2'].flatMap((id) => [`north ${id}`, `south ${id}`])];
    const tickets = SMALL_IMPORT.tickets
      .filter((row) => !gone.includes(`${String(row['organizationId'])} ${String(row['ticketId'])}`))
      .map((row) => (row === SMALL_IMPORT.tickets[1] ? changed : row));
    expectSameRecords(file, (await built({ ...SMALL_IMPORT, tickets })).file);
    expect(report.changes).to.include({ added: 0, replaced: 1, deleted: 5, withoutRecord: 0 });
  });

  it('has only the records of the import of an organization that is complete', async () => {
    const north = SMALL_IMPORT.tickets[0];
    const { report, file } = await change({
      organizations: [{ organizationId: 'north', complete: true }],
      tickets: [north],
    });
    const rest = smallImport(['south']);
    const whole = { ...rest, organizations: SMALL_IMPORT.organizations, tickets: [north, ...rest.tickets] };
    expectSameRecords(file, (await built(whole)).file);
    expect(report.changes).to.include({ added: 0, replaced: 1, deleted: 87 });
  });

  it('lacks a deleted organization that has no line, if that is permitted', async () => {
    const deletions = ['north', 'west'].map((id) => ({ collection: 'organizations', id }));
    const { file, report } = await change({ deletions }, { allowShrink: true });
    expectSameRecords(file, (await built(smallImport(['south']))).file);
    expect(report.changes).to.include({ deleted: 0 });
    const { cause } = await errorOf(NotPublished, { deletions }, onBase());
    expect(cause).to.include({ reason: 'organization-gone' });
    const organizations = [{ organizationId: 'north' }];
    expectSameRecords((await change({ deletions, organizations })).file, base.file);
  });

  describe('refuses', () => {
    const [first] = SMALL_IMPORT.tickets;
    for (const [what, files, ...expected] of [
      [
        'a deletion that leaves a session without its event, and names the session',
        { deletions: [deletion('events', 'evt_3')] },
        'the import contradicts 2 records of the base',
        'BASE: eventId must be an event of the organization, found "evt_3" in sessions "ses_3": 2 records',
      ],
      [
        'deletions that leave an event without a session, and names the event',
        { deletions: ['ses_3', 'ses_7'].map((id) => deletion('sessions', id)) },
        'the import contradicts 1 record of the base',
        'BASE: id must have a session, found "evt_3" in events "evt_3": 1 record',
      ],
      [
        'such a deletion besides bad lines, which it counts apart, and that name no collection or organization',
        {
          deletions: [
            { ...deletion('tickets', 'tkt_0'), organizationId: 'west' },
            deletion('ticket', 'tkt_0'),
            'tkt_0',
            { organizationId: 'north', collection: 'organizations', id: 'south' },
            deletion('events', 'evt_3'),
          ],
        },
        'the import contains 4 bad lines and contradicts 2 records of the base',
        'deletions.ndjson: organizationId must be in the base or in organizations.ndjson, found "west": line 1',
        'deletions.ndjson: collection must be one of events, sessions, tickets, orders, offers, organizations, found "ticket": line 2',
        'deletions.ndjson: the line must be a JSON object, found tkt_0: line 3',
        'deletions.ndjson: organizationId must be the id of the organization, or absent, found "north": line 4',
        'BASE: eventId must be an event of the organization, found "evt_3" in sessions "ses_3": 2 records',
      ],
      [
        'a bad session without its event, of which it counts each problem once',
        { sessions: [{ ...SMALL_IMPORT.sessions[0], eventId: 'evt', durationMinutes: '90' }] },
        'the import contains 1 bad line',
        'sessions.ndjson: durationMinutes must be integer, found "90": line 1',
        'sessions.ndjson: eventId must be an event of the organization, found "evt": line 1',
      ],
      [
        'a bad event in place of a deleted one, of which it shows no other problem',
        { events: [{ ...SMALL_IMPORT.events[3], tags: 'jazz' }], deletions: [deletion('events', 'evt_3')] },
        'the import contains 1 bad line and contradicts 2 records of the base, 2 of them only because of others',
        'events.ndjson: tags must be array or null, found "jazz": line 1',
      ],
      [
        'bad sessions in place of the deleted ones of an event, of which it shows no other problem',
        {
          sessions: [{ ...SMALL_IMPORT.sessions[3], durationMinutes: 'long' }],
          deletions: ['ses_3', 'ses_7'].map((id) => deletion('sessions', id)),
        },
        'the import contains 1 bad line and contradicts 1 record of the base, 1 of them only because of others',
        'sessions.ndjson: durationMinutes must be integer, found "long": line 1',
      ],
      [
        'an id that occurs twice in the import',
        { tickets: [first, first] },
        'the import contains 1 bad line',
        'tickets.ndjson: ticketId must be unique, found "tkt_0" also on line 1: line 2',
      ],
    ] satisfies [string, Import, ...string[]][]) {
      it(what, async () => {
        const { message, groups } = await rejectionOf(files, onBase());
        expect([message, ...groups.map((group) => group.replace(base.file, 'BASE'))]).to.have.members(
          expected,
        );
      });
    }

    for (const [what, statement] of [
      ['deletions', "INSERT INTO deletions VALUES ('north', 'forms', 'gone', 0)"],
      ['changes', 'UPDATE tickets SET changed_at = changed_at + 1 WHERE row = 7'],
    ] as const) {
      it(`a base that is invalid in its ${what}, under matching digests`, async () => {
        const path = inFolder('altered.sqlite');
        copyFileSync(base.file, path);
        new Database(path).exec(statement).close();
        reseal(path);
        expect((await errorOf(RefusedSnapshot, {}, onBase({ base: path }))).reason).to.equal('inconsistent');
      });
    }
  });

  it('leaves the base as it was when it is aborted, although the output has its name', async () => {
    const before = readFileSync(base.file);
    const abort = new AbortController();
    const options = {
      output: base.file,
      signal: abort.signal,
      onProgress: ({ step }: BuildProgress) => {
        if (step === 'written') abort.abort(new Error('stopped'));
      },
    };
    const error = await errorOf(Error, { tickets: [SMALL_IMPORT.tickets[0]] }, onBase(options));
    expect(error.message).to.equal('stopped');
    expect(readFileSync(base.file).equals(before)).to.equal(true);
  });
});
