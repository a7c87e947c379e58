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
  const { largeShape } = context;
  const { signal } = context.options;
  const base = await context.snapshot(largeShape);
  const input = await context.writeImport(largeShape);
  const folder = mkdtempSync(join(context.options.folder, 'build-'));
  const changes: string[] = [];
  for (const { condition } of CHANGES) changes.push(await writeChanges(base, condition, folder));

  const build = async (source: { input: string; base?: string }) => {
    const [startedAt, before] = [performance.now(), process.cpuUsage()];
    const output = join(folder, 'output.sqlite');
    await buildSnapshot({ ...source, output, producedAt: new Date(), signal });
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
      `SELECT json_set(record, '$.organizationId', organization_id, '$.status', 'CHANGED ' || random()) || char(10)
       FROM tickets, (SELECT sum(record_count) AS tickets FROM runs WHERE collection = 'tickets')
       WHERE ${condition}`,
    )
    .pluck();
  await pipeline(lines.iterate(), createWriteStream(join(folder, 'tickets.ndjson')));
  database.close();
  return folder;
}

/** The last line is shorter. */
const END_BYTES = 2000;

/** Measures the streams of the changes since a snapshot, against one of all records. */
export async function measureChanges(context: BenchContext): Promise<Row[]> {
  const base = await context.snapshot();
  const changes = await writeChanges(base, 'row % 100 = 0', context.options.folder);
  const changed = join(context.options.folder, 'changed.sqlite');
  await context.build(changes, changed, ['--base', base]);
  await using foyer = await context.startReplica({ snapshots: [base, changed] });

  const read = async (query: string) => {
    const startedAt = performance.now();
    const response = await foyer.fetch(`/v1/changes${query}`);
    let bytes = 0;
    let end = Buffer.alloc(0);
    const body: AsyncIterable<Uint8Array> | null = response.body;
    for await (const chunk of body ?? []) {
      bytes += chunk.length;
      end = Buffer.concat([end.subarray(-END_BYTES), chunk]);
    }
    const [, token = ''] = /"next":"([\w-]+)"/.exec(end.toString()) ?? [];
    return { ms: performance.now() - startedAt, bytes, token };
  };
  const { token: earlier } = await read('');
  await foyer.swap();
  const rounds = await context.rounds('changes', async () => {
    const all = await read('');
    const some = await read(`?since=${earlier}`);
    const none = await read(`?since=${some.token}`);
    return { all, some, none };
  });
  const row = (kind: 'some' | 'none', name: string, atMost: number): Row =>
    ratioRow({
      name: `${name}, against all records`,
      note: `${context.options.sizes.tickets} tickets, in one request; ${rounds[0][kind].bytes} against ${rounds[0].all.bytes} bytes`,
      unit: 'ms',
      reach: { atMost },
      pairs: rounds.map((round) => [round[kind].ms, round.all.ms]),
    });
  return [row('some', 'changes of 1 % of the tickets', 0.1), row('none', 'changes of nothing', 0.01)];
}
