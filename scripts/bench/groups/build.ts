import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import Database from 'better-sqlite3';
import { buildSnapshot } from '../../../src/snapshot/builder/build-snapshot.ts';
import type { BenchContext } from '../bench-context.ts';
import { format, median, type Row, rowOf } from '../figures.ts';

/** The tickets that change, as an SQL condition on `row`, the position in list order, and the number of all tickets. */
const CHANGES = {
  'the latest 1 % of the tickets': { condition: 'row < tickets / 100', reach: { atMost: 0.2 } },
  'every hundredth ticket': { condition: 'row % 100 = 0', reach: { atMost: 0.25 } },
};

interface Build {
  readonly seconds: number;
  readonly processorSeconds: number;
}

/** Measures builds from changes, against a build of all records. */
export async function measureBuild(context: BenchContext): Promise<Row[]> {
  const { rounds, largeTickets: tickets, events } = context.sizes;
  const shape = { tickets, events };
  const base = await context.snapshot(shape);
  const input = await context.writeImport(shape);
  const folder = mkdtempSync(join(context.folder, 'build-'));
  const output = join(folder, 'output.sqlite');

  const build = async (source: { input: string; base?: string }): Promise<Build> => {
    const startedAt = performance.now();
    const before = process.cpuUsage();
    const options = { ...source, output, skipInvalid: false, producedAt: new Date(), signal: context.signal };
    await buildSnapshot(options);
    const { user, system } = process.cpuUsage(before);
    return { seconds: (performance.now() - startedAt) / 1000, processorSeconds: (user + system) / 1e6 };
  };
  const kinds = await Promise.all(
    Object.entries(CHANGES).map(async ([name, { condition, reach }]) => {
      const changes = mkdtempSync(join(folder, 'changes-'));
      await writeChanges(base, condition, join(changes, 'tickets.ndjson'));
      return { name, reach, changes, builds: new Array<Build>() };
    }),
  );
  const full: Build[] = [];
  for (let round = 1; round <= rounds; round++) {
    context.showProgress(`build: round ${round} of ${rounds}`);
    full.push(await build({ input }));
    for (const { changes, builds } of kinds) builds.push(await build({ input: changes, base }));
  }
  rmSync(input, { recursive: true });
  rmSync(folder, { recursive: true });

  const processor = (builds: readonly Build[]) => median(builds.map((one) => one.processorSeconds));
  return kinds.map(({ name, reach, builds }) =>
    rowOf({
      name: `build from changes to ${name}, against a build of all`,
      note:
        `${tickets} tickets, by the clock: ${format(median(builds.map(({ seconds }) => seconds)), 's')} against ` +
        `${format(median(full.map(({ seconds }) => seconds)), 's')}; processor time ` +
        format(processor(builds) / processor(full), 'times'),
      unit: 'times',
      reach,
      rounds: builds.map(({ seconds }, i) => seconds / full[i].seconds),
      summarize: median,
    }),
  );
}

/** Writes the tickets of a snapshot that meet a condition as import lines, each with another status. */
export async function writeChanges(snapshot: string, condition: string, file: string): Promise<void> {
  const database = new Database(snapshot, { readonly: true, fileMustExist: true });
  const lines = database
    .prepare<[], string>(
      `SELECT json_set(record, '$.organizationId', organization_id, '$.status', 'CHANGED') || char(10)
       FROM tickets, (SELECT sum(record_count) AS tickets FROM runs WHERE collection = 'tickets')
       WHERE ${condition}`,
    )
    .pluck();
  await pipeline(lines.iterate(), createWriteStream(file));
  database.close();
}
