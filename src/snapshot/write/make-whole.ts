import { setImmediate } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { byCollection, type CollectionLayout, COLLECTIONS } from '../format/layout.ts';
import type { OpenSnapshot } from '../format/open-snapshot.ts';
import { CHANGED_COLUMN, RECORD_COLUMN } from '../format/schema.ts';
import { asRefusal } from '../format/snapshot-file.ts';
import type { PairList } from '../load/pair-list.ts';
import { SnapshotReader } from '../load/snapshot-reader.ts';
import type { Row } from '../../store/memory/shared-arrays.ts';
import { NewFile } from './new-file.ts';

/** Rows that are copied at once. */
const COPIED = 10_000;

/**
 * Writes a snapshot as one whole file, to which its changes and later ones apply. Pauses after some steps.
 * @param path of a file that does not exist
 * @throws RefusedSnapshot when the records are not the declared ones
 */
export function* makeWhole(snapshot: OpenSnapshot, path: string): Generator<undefined, void> {
  const { whole, latest, manifest } = snapshot;
  const reader = new SnapshotReader(snapshot);
  using file = new NewFile(path);
  const { database } = file;
  try {
    whole.attachTo(database, 'whole');
    latest.attachTo(database, 'changes');
    for (const layout of COLLECTIONS) {
      const copy = copierOf(database, layout);
      for (const { organizationId } of manifest.organizations)
        yield* copy(reader.pairOf(layout, organizationId));
    }
    database.exec('INSERT INTO deletions SELECT * FROM changes.deletions');
    yield* file.index();
    const organizations = manifest.organizations.map((one) => ({
      ...one,
      lists: byCollection(({ name }) => ({ ...one.lists[name], rowCount: one.lists[name].recordCount })),
    }));
    yield* file.complete({ ...manifest, changesSince: '' }, organizations);
  } catch (error) {
    throw asRefusal(error);
  }
}

/** Returns a function that copies a list of a collection from the attached files `whole` and `changes`. */
function copierOf(database: Database.Database, { name, idColumn, columns }: CollectionLayout) {
  const values = [idColumn, ...columns.map(({ column }) => column), CHANGED_COLUMN, RECORD_COLUMN];
  const copied = ['organization_id', ...values].join(', ');
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

/** Does steps, between which the event loop handles other events. Returns the result. */
export async function inTurns<T>(steps: Generator<undefined, T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await setImmediate();
    signal?.throwIfAborted();
  }
}
