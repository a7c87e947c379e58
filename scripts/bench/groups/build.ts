import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import Database from 'better-sqlite3';
import { buildSnapshot } from '../../../src/snapshot/builder/build-snapshot.ts';
import type { BenchContext } from '../bench-context.ts';
import { median, ratioRow, type Row } from '../rows.ts';

/** The tickets that change, as an SQL condition on `row`, the position in list order, and the number of all tickets. */
const CHANGES = [
  { name: 'the latest 1 % of the tickets', condition: 'row < tickets / 100', reach: { atMost: 0.2 } },
  { name: 'every hundredth ticket', condition: 'row % 100 = 0', reach: { atMost: 0.25 } },
] as const;

/** Measures builds from changes, against a build of all records. */
export async function measureBuild(context: BenchContext): Promise<Row[]> {
  const { signal, largeShape } = context;
  const base = await context.snapshot(largeShape);
  const input = await context.writeImport(largeShape);
  const folder = mkdtempSync(join(context.folder, 'build-'));
  const changes: string[] = [];
  for (const { condition } of CHANGES) changes.push(await writeChanges(base, condition, folder));

  const build = async (source: { input: string; base?: string }) => {
    const [startedAt, before] = [performance.now(), process.cpuUsage()];
    const output = join(folder, 'output.sqlite');
    await buildSnapshot({ ...source, output, skipInvalid: false, producedAt: new Date(), signal });
    const { user, system } = process.cpuUsage(before);
    return { seconds: (performance.now() - startedAt) / 1000, processorSeconds: (user + system) / 1e6 };
  };
  const rounds = await context.rounds('build', async () => {
    const full = await build({ input });
    const fromChanges = [];
    for (const changed of changes) fromChanges.push(await build({ input: changed, base }));
    return { full, fromChanges };
  });
  rmSync(input, { recursive: true });
  rmSync(folder, { recursive: true });
  return CHANGES.map(({ name, reach }, i) => {
    const processor = rounds.map(
      ({ full, fromChanges }) => fromChanges[i].processorSeconds / full.processorSeconds,
    );
    return ratioRow({
      name: `build from changes to ${name}, against a build of all`,
      note: `by the clock; ${largeShape.tickets} tickets; processor time ${median(processor).toFixed(2)} times`,
      unit: 's',
      reach,
      pairs: rounds.map(({ full, fromChanges }) => [fromChanges[i].seconds, full.seconds]),
    });
  });
}

/**
 * Writes the tickets of a snapshot that meet a condition, each with another status, into an import folder.
 * Returns its path.
 */
export async function writeChanges(snapshot: string, condition: string, parent: string): Promise<string> {
  const folder = mkdtempSync(join(parent, 'changes-'));
  const database = new Database(snapshot, { readonly: true, fileMustExist: true });
  const lines = database
    .prepare<[], string>(
      `SELECT json_set(record, '$.organizationId', organization_id, '$.status', 'CHANGED') || char(10)
       FROM tickets, (SELECT sum(record_count) AS tickets FROM runs WHERE collection = 'tickets')
       WHERE ${condition}`,
    )
    .pluck();
  await pipeline(lines.iterate(), createWriteStream(join(folder, 'tickets.ndjson')));
  database.close();
  return folder;
}
