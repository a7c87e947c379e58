import { hash } from 'node:crypto';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import Database from 'better-sqlite3';
import { buildSnapshot } from '../../src/snapshot/builder/build-snapshot.ts';

/** Which tickets change: the first ones in this order, an SQL expression over the table of the tickets. */
interface Distribution {
  /** Completes "changes of". */
  readonly name: string;
  readonly order: string;
}

export const RANDOM: Distribution = { name: 'tickets at random', order: 'hash(row)' };
/** Those of the first half of the list. */
export const HALF: Distribution = {
  name: 'tickets at random in the first half',
  order: '2 * row > max(row) OVER (), hash(row)',
};
const EVENTS: Distribution = { name: 'all tickets of a few events', order: 'hash(event_id), row' };
export const LATEST: Distribution = { name: 'the latest tickets', order: 'row' };
/** From the least kind to the kindest: changes lie anywhere in a list, in some months of it, or at its start. */
export const DISTRIBUTIONS: readonly Distribution[] = [RANDOM, EVENTS, LATEST];

interface Changes {
  readonly distribution: Distribution;
  readonly count: number;
  /** Selects other tickets and events; by default 0. */
  readonly seed?: number;
}

/** Writes tickets of a snapshot, each with another status, into an import folder. Returns its path. */
export async function writeChanges(
  snapshot: string,
  { distribution, count, seed = 0 }: Changes,
  parent: string,
): Promise<string> {
  const folder = mkdtempSync(join(parent, 'changes-'));
  const database = new Database(snapshot, { readonly: true, fileMustExist: true });
  database.function('hash', { deterministic: true }, (value) => hash('sha256', `${seed} ${String(value)}`));
  const lines = database
    .prepare<[number], string>(
      `SELECT json_set(record, '$.organizationId', organization_id, '$.status', 'CHANGED ' || random()) || char(10)
       FROM tickets ORDER BY ${distribution.order} LIMIT ?`,
    )
    .pluck();
  await pipeline(lines.iterate(Math.ceil(count)), createWriteStream(join(folder, 'tickets.ndjson')));
  database.close();
  return folder;
}

/** Builds the snapshot that follows on a base with changes. */
export async function buildSuccessor(
  base: string,
  output: string,
  changes: Changes,
  signal: AbortSignal,
): Promise<void> {
  const input = await writeChanges(base, changes, dirname(output));
  await buildSnapshot({ input, base, output, producedAt: new Date(), signal });
  rmSync(input, { recursive: true });
}
