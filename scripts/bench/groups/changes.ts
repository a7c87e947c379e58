import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PREVIEW, VERSION_HEADER } from '../../../src/contract/releases.ts';
import { buildSnapshot } from '../../../src/snapshot/builder/build-snapshot.ts';
import type { BenchContext } from '../bench-context.ts';
import { buildSuccessor, DISTRIBUTIONS, LATEST, RANDOM, writeChanges } from '../changed-tickets.ts';
import { send } from '../load/traffic.ts';
import { median, ratioRow, type Row } from '../rows.ts';

/** Measures builds from changes, against a build of all records. */
export async function measureBuild(context: BenchContext): Promise<Row[]> {
  const { largeShape } = context;
  const { signal } = context.options;
  const base = await context.snapshot(largeShape);
  const input = await context.writeImport(largeShape);
  const folder = mkdtempSync(join(context.options.folder, 'build-'));
  const changes: string[] = [];
  for (const distribution of DISTRIBUTIONS)
    changes.push(await writeChanges(base, { distribution, count: largeShape.tickets / 100 }, folder));

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
  return DISTRIBUTIONS.map((distribution, i) => {
    const processor = rounds.map(
      ({ full, fromChanges }) => fromChanges[i].processorSeconds / full.processorSeconds,
    );
    return ratioRow({
      name: `build from changes of 1 %, ${distribution.name}, against a build of all`,
      note: `by the clock; ${largeShape.tickets} tickets; processor time ${median(processor).toFixed(2)} times`,
      unit: 's',
      reach: { atMost: distribution === LATEST ? 0.2 : 0.25 },
      pairs: rounds.map(({ full, fromChanges }) => [fromChanges[i].seconds, full.seconds]),
    });
  });
}

/** The last line is shorter. */
const END_BYTES = 2000;

/** Measures the streams of the changes since a snapshot, against one of all records. */
export async function measureChanges(context: BenchContext): Promise<Row[]> {
  const base = await context.snapshot();
  const { folder, signal, sizes } = context.options;
  const changed = join(folder, 'changed.sqlite');
  await buildSuccessor(base, changed, { distribution: RANDOM, count: sizes.tickets / 100 }, signal);
  await using foyer = await context.startReplica({ snapshots: [base, changed] });

  const read = async (query: string) => {
    const startedAt = performance.now();
    const response = await send(foyer, {
      path: `/v1/changes${query}`,
      headers: { [VERSION_HEADER]: PREVIEW },
    });
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
      note: `${sizes.tickets} tickets, in one request; ${rounds[0][kind].bytes} against ${rounds[0].all.bytes} bytes`,
      unit: 'ms',
      reach: { atMost },
      pairs: rounds.map((round) => [round[kind].ms, round.all.ms]),
    });
  return [row('some', 'changes of 1 % of the tickets', 0.1), row('none', 'changes of nothing', 0.01)];
}
