import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildSnapshot } from '../../../src/snapshot/builder/build-snapshot.ts';
import { type BenchContext, shapeOf } from '../bench-context.ts';
import { format, median, type Row, rowOf } from '../figures.ts';
import { ReplicaProcess } from '../servers/replica-process.ts';
import { writeChanges } from './build.ts';

/** The last line is shorter. */
const END_BYTES = 2000;

interface Round {
  readonly seconds: number;
  readonly bytes: number;
  readonly token: string;
}

/** Measures the streams of the changes since a snapshot, against one of all records. */
export async function measureChanges(context: BenchContext): Promise<Row[]> {
  const { signal } = context;
  const { rounds, tickets } = context.sizes;
  const base = await context.snapshot(shapeOf(tickets));
  const folder = mkdtempSync(join(context.folder, 'changes-'));
  const changed = join(folder, 'changed.sqlite');
  await writeChanges(base, 'row % 100 = 0', join(folder, 'tickets.ndjson'));
  await buildSnapshot({ input: folder, base, output: changed, skipInvalid: false, producedAt: new Date() });
  const files = context.replicaFiles(base, changed);
  await using foyer = await ReplicaProcess.start(files, {}, signal);

  const read = async (query: string): Promise<Round> => {
    const startedAt = performance.now();
    const headers = {
      Authorization: `Bearer ${files.credential}`,
      'Service-API-Version': 'preview',
      'Accept-Encoding': 'identity',
    };
    const response = await fetch(`http://127.0.0.1:${foyer.port}/v1/changes${query}`, { headers, signal });
    let bytes = 0;
    let end = Buffer.alloc(0);
    const body: AsyncIterable<Uint8Array> | null = response.body;
    for await (const chunk of body ?? []) {
      bytes += chunk.length;
      end = Buffer.concat([end.subarray(-END_BYTES), chunk]);
    }
    const [, token = ''] = /"next":"([\w-]+)"/.exec(end.toString()) ?? [];
    return { seconds: (performance.now() - startedAt) / 1000, bytes, token };
  };
  const { token: earlier } = await read('');
  await foyer.swap();
  const measured: Record<'all' | 'some' | 'none', Round>[] = [];
  // Round 0 is the warm-up.
  for (let round = 0; round <= rounds; round++) {
    context.showProgress(`changes: round ${round} of ${rounds}`);
    const all = await read('');
    const some = await read(`?since=${earlier}`);
    const none = await read(`?since=${some.token}`);
    if (round > 0) measured.push({ all, some, none });
  }
  rmSync(folder, { recursive: true });
  const row = (kind: 'some' | 'none', name: string, atMost: number): Row => {
    const describe = (one: 'all' | 'some' | 'none') =>
      `${format(median(measured.map((round) => round[one].seconds * 1000)), 'ms')}, ${measured[0][one].bytes} bytes`;
    return rowOf({
      name: `${name}, against all records`,
      note: `${tickets} tickets, in one request: ${describe(kind)}; all: ${describe('all')}`,
      unit: 'times',
      reach: { atMost },
      rounds: measured.map((round) => round[kind].seconds / round.all.seconds),
      summarize: median,
    });
  };
  return [row('some', 'changes of 1 % of the tickets', 0.1), row('none', 'changes of nothing', 0.01)];
}
