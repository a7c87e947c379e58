import { join } from 'node:path';
import type { BenchContext } from '../bench-context.ts';
import { ratioRow, type Row } from '../rows.ts';
import { writeChanges } from './build.ts';

/** The last line is shorter. */
const END_BYTES = 2000;

/** Measures the streams of the changes since a snapshot, against one of all records. */
export async function measureChanges(context: BenchContext): Promise<Row[]> {
  const base = await context.snapshot();
  const changes = await writeChanges(base, 'row % 100 = 0', context.folder);
  const changed = join(context.folder, 'changed.sqlite');
  await context.build(changes, changed, ['--base', base]);
  await using foyer = await context.startReplica({ snapshots: [base, changed] });

  const read = async (query: string) => {
    const startedAt = performance.now();
    const headers = {
      Authorization: `Bearer ${foyer.credential}`,
      'Service-API-Version': 'preview',
      'Accept-Encoding': 'identity',
    };
    const response = await fetch(`http://127.0.0.1:${foyer.port}/v1/changes${query}`, { headers });
    let bytes = 0;
    let end = Buffer.alloc(0);
    for await (const chunk of response.body ?? []) {
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
      note: `${context.sizes.tickets} tickets, in one request; ${rounds[0][kind].bytes} against ${rounds[0].all.bytes} bytes`,
      unit: 'ms',
      reach: { atMost },
      pairs: rounds.map((round) => [round[kind].ms, round.all.ms]),
    });
  return [row('some', 'changes of 1 % of the tickets', 0.1), row('none', 'changes of nothing', 0.01)];
}
