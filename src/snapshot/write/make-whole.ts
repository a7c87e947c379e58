import { setImmediate } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { byCollection, type CollectionLayout, COLLECTIONS } from '../format/layout.ts';
import { instantOf, totalCounts } from '../format/manifest.ts';
import type { OpenSnapshot } from '../format/open-snapshot.ts';
import { SCHEMA, storedColumns } from '../format/schema.ts';
import { damaged } from '../format/refused-snapshot.ts';
import { asRefusal, type OpenFile } from '../format/snapshot-file.ts';
import type { PairList } from '../load/pair-list.ts';
import { SnapshotReader } from '../load/snapshot-reader.ts';
import type { Row } from '../../store/memory/shared-arrays.ts';
import { NewFile } from './new-file.ts';

/** Rows that are copied at once. */
const COPIED = 10_000;

/**
 * Writes a snapshot as one whole file. Pauses after some steps.
 * @param path of a file that does not exist
 * @param epoch by default that of the snapshot, whose changes, and later ones, then apply to the file
 * @throws RefusedSnapshot when the records are not the declared ones
 */
export function* makeWhole(
  snapshot: OpenSnapshot,
  path: string,
  epoch = snapshot.manifest.epoch,
): Generator<undefined, void> {
  const { whole, latest, manifest } = snapshot;
  const reader = new SnapshotReader(snapshot);
  using file = new NewFile(path);
  const { database } = file;
  try {
    whole.attachTo(database, 'whole');
    latest.attachTo(database, 'changes');
    for (const layout of COLLECTIONS) {
      checkIndex(whole, layout);
      const copy = copierOf(database, layout);
      for (const { organizationId } of manifest.organizations)
        yield* copy(reader.pairOf(layout, organizationId));
    }
    // Changes may have deletions before the first ancestor, since the whole file.
    const since = manifest.ancestors.at(0)?.producedAt;
    database
      .prepare('INSERT INTO deletions SELECT * FROM changes.deletions WHERE deleted_at > ?')
      .run(since === undefined ? instantOf(manifest.producedAt) - 1n : instantOf(since));
    yield* file.index();
    const organizations = manifest.organizations.map((one) => ({
      ...one,
      lists: byCollection(({ name }) => ({ ...one.lists[name], rowCount: one.lists[name].recordCount })),
    }));
    yield* file.complete({ ...manifest, epoch, changesSince: '' }, organizations);
  } catch (error) {
    throw asRefusal(error);
  }
}

/** Returns a function that copies a list of a collection from the attached files `whole` and `changes`. */
function copierOf(database: Database.Database, layout: CollectionLayout) {
  const { name } = layout;
  const copied = storedColumns(layout).join(', ');
  database.exec(`CREATE TEMP TABLE leaving_${name} (row INTEGER PRIMARY KEY)`);
  const leave = database.prepare<[Row]>(`INSERT INTO leaving_${name} VALUES (?)`);
  const [copyWhole, copyChanges] = ['whole', 'changes'].map((schema) =>
    database.prepare<[from: Row, to: Row, count: number]>(
      `INSERT INTO ${name} (${copied}) SELECT ${copied} FROM ${schema}.${name}
       WHERE row IN (SELECT row FROM ${schema}.${name} WHERE row >= ? AND row < ? LIMIT ?)
         ${schema === 'whole' ? `AND row NOT IN leaving_${name}` : ''} ORDER BY row`,
    ),
  );
  return function* (pair: PairList): Generator<undefined, void> {
    const { whole, declared, leaving, changed } = pair;
    for (const row of leaving) leave.run(whole.firstRow + row);
    const ends = Array.from(changed.keys().filter((i) => changed[i + 1] !== changed[i] + 1));
    let [from, first] = [0, 0];
    for (const i of [...ends, changed.length]) {
      const to = i === changed.length ? whole.recordCount : pair.wholeRowOf(changed[first]);
      for (; from < to; from = Math.min(from + COPIED, to)) {
        const count = Math.min(COPIED, to - from);
        copyWhole.run(whole.firstRow + from, whole.firstRow + from + count, count);
        yield;
      }
      if (i === changed.length) return;
      const count = i + 1 - first;
      const firstRow = declared.firstRow + changed[first];
      copyChanges.run(firstRow, firstRow + count, count);
      first = i + 1;
    }
  };
}

/** Refuses a whole file whose index lacks records: they would stay although they are deleted or replaced. */
function checkIndex({ database, manifest }: OpenFile, { name }: CollectionLayout): void {
  const [, index = ''] = new RegExp(`CREATE UNIQUE INDEX (\\w+) ON ${name} `).exec(SCHEMA) ?? [];
  const { [name]: declared } = totalCounts(manifest);
  // In a damaged tree, an index may have any number of entries.
  const count = database
    .prepare<[number], number>(`SELECT count(*) FROM (SELECT 1 FROM ${name} INDEXED BY ${index} LIMIT ?)`)
    .pluck();
  if (count.get(declared + 1) !== declared) throw damaged(`the index of ${name} lacks records`);
}

/** Does steps, between which the event loop handles other events. Returns the result. */
export async function inTurns<T>(steps: Generator<undefined, T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await setImmediate();
    signal?.throwIfAborted();
  }
}
