import { readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import fc from 'fast-check';
import type { BuildOptions } from '../../../src/snapshot/builder/build-options.ts';
import { ImportRejected } from '../../../src/snapshot/builder/staging/rejections.ts';
import { byCollection, COLLECTIONS } from '../../../src/snapshot/format/layout.ts';
import { NotPublished } from '../../../src/snapshot/publish/publish-snapshot.ts';
import { byDepth } from '../../support/depth.ts';
import {
  buildFile,
  digestsOf,
  type Import,
  type ImportRecord,
  PRODUCED_AT,
} from '../../support/import-folder.ts';
import { type Change, type Files, histories, ORGANIZATIONS, World } from '../../support/random-history.ts';
import { readSnapshot } from '../../support/read-snapshot.ts';
import { recordsIn, times } from '../../support/records.ts';
import { SMALL_IMPORT } from '../../support/small-import.ts';
import { expectSameRecords, expectSameRows } from '../../support/stored-rows.ts';
import { withFolder } from '../../support/temporary-folder.ts';
import { Builds } from '../builds.ts';

const later = (step: number) => new Date(PRODUCED_AT.getTime() + step);
const digestsIn = (file: string) => digestsOf(readSnapshot(file, { isThorough: true }));
const isOf = (organizationId: string) => (line: ImportRecord) => line['organizationId'] === organizationId;

type Lines = Files & { deletions?: ImportRecord[] };

/** What may be wrong with the lines of an organization, which has an event, a session and a ticket named `anchor`. */
const FAULTS: Readonly<Record<string, (lines: Lines, organizationId: string) => void>> = {
  'a bad line': ({ tickets }, id) => tickets.push(recordsIn(id).ticket('anchor', { qrCode: 5 })),
  'an id twice': ({ orders }, id) => orders.push(...times(2, () => recordsIn(id).order('twice'))),
  'a session without its event': ({ sessions }, id) => sessions.push(recordsIn(id).session('lost', 'none')),
  'an event without a session': ({ events }, id) => events.push(recordsIn(id).event('lonely')),
  'a bad organization': ({ organizations }, id) => organizations.push({ organizationId: id, name: 5 }),
  'a bad deletion': ({ deletions, offers }, id) =>
    (deletions ?? offers).push({ organizationId: id, collection: 'forms', id: 'a' }),
  'an event of which the sessions are gone': (lines, id) => {
    remove(lines, id, 'sessions', 'of anchor');
    lines.deletions?.push({ organizationId: id, collection: 'sessions', id: 'of anchor' });
  },
  'no record': (lines, id) => {
    for (const { name } of COLLECTIONS) remove(lines, id, name);
    remove(lines, id, 'organizations');
    lines.organizations.push({ organizationId: id, complete: true });
  },
  'no organization': (lines, id) => {
    for (const name of ['organizations', ...COLLECTIONS.map(({ name }) => name)] as const)
      remove(lines, id, name);
    lines.deletions?.push({ collection: 'organizations', id });
  },
};

function remove(lines: Lines, owner: string, name: keyof Files, id?: string): void {
  lines[name] = lines[name].filter((line) => !isOf(owner)(line) || (id !== undefined && line['id'] !== id));
}

const faultOf = (names: readonly string[]) => fc.option(fc.constantFrom(...names), { freq: 2 });
// An import without any organization is refused.
const faults = fc.record({
  north: faultOf(Object.keys(FAULTS).filter((name) => name !== 'no organization')),
  south: faultOf(Object.keys(FAULTS)),
});

/** Returns the key of a record that a deletion without an organization names. */
const keyOf = (collection: string, line: ImportRecord) => {
  const layout = COLLECTIONS.find(({ name }) => name === collection);
  return `${collection} ${String(line[layout?.resource.id ?? ''])}`;
};

/** Returns the lines of records that have one of the keys or belong to an organization that is complete. */
function importOf(world: World, keys: ReadonlySet<string>, behind: ReadonlySet<string>): Lines {
  const all = world.all();
  const files = COLLECTIONS.map(({ name }) => [
    name,
    all[name].filter((line) => keys.has(keyOf(name, line)) || behind.has(String(line['organizationId']))),
  ]);
  const organizations = ORGANIZATIONS.map((id) => ({ organizationId: id, complete: behind.has(id) }));
  const deletions = Array.from(keys, (key) => {
    const [collection, ...id] = key.split(' ');
    return { collection, id: id.join(' ') };
  });
  return { ...(Object.fromEntries(files) as Files), organizations, deletions };
}

/** Returns the number of records that changed at a time, and of those that were deleted, of an organization. */
function changesIn(file: string, organizationId: string, at: Date): number {
  const database = new Database(file, { readonly: true });
  const tables = COLLECTIONS.map(({ name }) => `SELECT changed_at AS at, organization_id FROM ${name}`);
  const sql = [...tables, 'SELECT deleted_at, organization_id FROM deletions'].join(' UNION ALL ');
  const count = database.prepare<[string, number], number>(
    `SELECT count(*) FROM (${sql}) WHERE organization_id = ? AND at = ?`,
  );
  const found = count.pluck().get(organizationId, at.getTime() * 1000) ?? 0;
  database.close();
  return found;
}

describe('A build that holds organizations back', () => {
  const { inFolder, build: built, errorOf } = new Builds();
  const holdBack = () => inFolder('held.ndjson');
  const heldIn = () => readFileSync(holdBack(), 'utf8');
  const { ticket } = recordsIn('north');
  const after = (base: string, options: Partial<BuildOptions> = {}) => ({
    base,
    producedAt: later(1),
    holdBack: holdBack(),
    ...options,
  });

  it('has of each organization its latest good state, and no change of one that is held, after any faults', async () => {
    const histories_ = histories.chain((history) =>
      fc.tuple(
        fc.constant(history),
        fc.array(faults, { minLength: history.length, maxLength: history.length }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(histories_, async ([history, faultsOf]) => {
        await withFolder(async (folder) => {
          const world = new World();
          const anchors = ORGANIZATIONS.flatMap((organizationId) =>
            (['events', 'tickets'] as const).map((collection): Change => {
              return {
                organizationId,
                collection,
                id: 'anchor',
                does: 'put',
                day: 1,
                text: 'one',
                eventIds: ['anchor'],
              };
            }),
          );
          const good = new Map<string, Files>();
          const behind = new Set<string>(ORGANIZATIONS);
          for (const [step, changes] of history.entries()) {
            const { deletions, ...changed } = world.apply(step === 0 ? [...anchors, ...changes] : changes);
            const keys = new Set([
              ...deletions.map(({ collection, id }) => `${collection} ${id}`),
              ...COLLECTIONS.flatMap(({ name }) => changed[name].map((line) => keyOf(name, line))),
            ]);
            const whole: Lines = world.all();
            const change = importOf(world, keys, behind);
            const held: string[] = [];
            for (const id of ORGANIZATIONS) {
              const name = faultsOf[step][id];
              // An organization is left, and one that was left out has nothing to lose.
              if (name === null || (step === 0 && id === 'north')) continue;
              const isLoss = name.startsWith('no ') || name.endsWith('gone');
              const apply = FAULTS[isLoss && !good.has(id) ? 'a bad line' : name];
              for (const lines of [whole, change]) apply(lines, id);
              held.push(id);
            }
            for (const id of ORGANIZATIONS) {
              if (held.includes(id)) behind.add(id);
              else {
                behind.delete(id);
                good.set(id, world.all(id === 'north' ? 'south' : 'north'));
              }
            }
            const clean = [...good.values()];
            await buildFile(
              {
                ...byCollection(({ name }) => clean.flatMap((lines) => lines[name])),
                organizations: Array.from(good.keys(), (organizationId) => ({ organizationId })),
              },
              folder(`clean-${step}`),
            );
            for (const kind of ['base', 'previous'] as const) {
              const options = { holdBack: folder('held'), producedAt: later(step) };
              const earlier = step === 0 ? {} : { [kind]: folder(`${kind}-${step - 1}`) };
              const file = folder(`${kind}-${step}`);
              const lines = kind === 'previous' || step === 0 ? whole : change;
              const { heldBack } = await buildFile(lines, file, { ...options, ...earlier });
              const what = `${kind}, step ${step}: ${JSON.stringify(faultsOf[step])} ${JSON.stringify(heldBack)}`;
              expect(
                heldBack.map(({ organizationId }) => organizationId),
                what,
              ).to.deep.equal(held);
              expectSameRecords(file, folder(`clean-${step}`), what);
              expect(digestsIn(file), what).to.deep.equal(digestsIn(folder(`clean-${step}`)));
              for (const id of held) expect(changesIn(file, id, later(step)), what).to.equal(0);
            }
            expectSameRows(folder(`base-${step}`), folder(`previous-${step}`), `step ${step}`);
          }
        });
      }),
      { seed: 20261128, numRuns: byDepth({ short: 8, deep: 100 }) },
    );
  });

  const held = async (files: Import, options: Partial<BuildOptions> = {}) => {
    const { report } = await built(files, { holdBack: holdBack(), ...options });
    expect(heldIn()).to.equal(report.heldBack.map((one) => `${JSON.stringify(one)}\n`).join(''));
    return report.heldBack;
  };
  const many = (count: number) => ({ ...SMALL_IMPORT, tickets: times(count, (i) => ticket(`t${i}`)) });
  const badTicket = { ...SMALL_IMPORT.tickets[70], status: 5 };
  const tickets = [...SMALL_IMPORT.tickets, badTicket, badTicket];

  it('lists each with its first problem and the number of its bad lines, and leaves a new one out', async () => {
    const { file } = await built(SMALL_IMPORT);
    const [field, found, lines] = ['status', '5', 2];
    const reason = 'tickets.ndjson:121: status must be string, found 5 (2 lines)';
    const south = { organizationId: 'south', reason, file: 'tickets.ndjson', line: 121, field, found, lines };
    const west = { organizationId: 'a:b', reason: 'organizations.ndjson:3: organizationId must' };
    const organizations = [...SMALL_IMPORT.organizations, { organizationId: west.organizationId }];
    const [first, second] = await held({ organizations, tickets }, after(file));
    expect(second).to.deep.equal(south);
    expect(first.reason.startsWith(west.reason), first.reason).to.equal(true);
    expect(await held({ ...SMALL_IMPORT, tickets })).to.deep.equal([south]);
    expect(await held(SMALL_IMPORT)).to.deep.equal([]);
  });

  it('is refused for lines of no known organization, which it names alone, and when no organization is left', async () => {
    for (const line of ['x', { ...badTicket, organizationId: 5 }, { ...badTicket, organizationId: 'west' }]) {
      const { groups } = await errorOf(
        ImportRejected,
        { ...SMALL_IMPORT, tickets: [...tickets, line] },
        { holdBack: holdBack() },
      );
      expect(new Set(groups.map(({ first }) => first))).to.deep.equal(new Set([123]));
    }
    const south = { organizations: [{ organizationId: 'south' }], tickets: [badTicket] };
    await errorOf(ImportRejected, south, { holdBack: holdBack() });
  });

  it('keeps an organization that lost more than half of 500 records, unless deletions name them', async () => {
    const { file } = await built(many(600));
    const kept = many(299).tickets;
    const complete = { organizations: [{ organizationId: 'north', complete: true }] };
    const less = { ...many(299), ...complete };
    const deletions = many(600)
      .tickets.slice(1)
      .map(({ ticketId }) => ({ organizationId: 'north', collection: 'tickets', id: ticketId }));
    const reason =
      'it has 299 tickets of organization "north", and the snapshot that it would replace has 600; ' +
      'to remove them, permit it with --allow-shrink';
    for (const [files, earlier, loses] of [
      [{ ...SMALL_IMPORT, tickets: kept }, { previous: file, base: undefined }, true],
      [less, {}, true],
      [{ ...less, deletions }, {}, false],
      [{ deletions }, {}, false],
      [less, { allowShrink: true }, false],
    ] satisfies [Import, Partial<BuildOptions>, boolean][]) {
      const expected = loses ? [{ organizationId: 'north', reason }] : [];
      expect(await held(files, after(file, earlier))).to.deep.equal(expected);
      const strict = after(file, { ...earlier, holdBack: undefined });
      if (loses) expect((await errorOf(NotPublished, files, strict)).message).to.include(reason);
    }
  });
});
