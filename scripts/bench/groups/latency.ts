import type { BenchContext } from '../bench-context.ts';
import { CONNECTIONS, LoadGenerator } from '../load/load-generator.ts';
import { MIXED_TRAFFIC, mixedTargets } from '../load/request-kinds.ts';
import { median, ratioRow, type Row } from '../rows.ts';
import { SnapshotContent } from '../snapshot-content.ts';

const SHARE_OF_PEAK = 0.7;

/** Measures response times below the peak, compared with the bare server at the same rate. */
export async function measureLatency(context: BenchContext): Promise<Row[]> {
  const { seconds } = context.options.sizes;
  await using foyer = await context.startReplica();
  using content = new SnapshotContent(await context.snapshot());
  const toFoyer = foyer.traffic(mixedTargets(content));
  const settings = { traffic: toFoyer, isExpress: false, chunkBytes: 0 };
  await using bare = await context.startServer('bare-server.ts', settings);
  const toBare = bare.traffic(toFoyer.targets);
  await using generator = new LoadGenerator(context.options.signal);

  const peaks = await context.rounds('latency: peak', async () => {
    await generator.measurePeak(bare, toBare, seconds / 2);
    return await generator.measurePeak(foyer, toFoyer, seconds / 2);
  });
  const perSecond = Math.round(median(peaks.map((peak) => peak.perSecond)) * SHARE_OF_PEAK);
  const load = { perSecond, connections: CONNECTIONS };
  const pairs = await context.rounds(`latency at ${perSecond} requests a second`, async () => {
    const own = await generator.measure({ ...toFoyer, ...load }, seconds);
    const its = await generator.measure({ ...toBare, ...load }, seconds);
    return [own.p99Ms, its.p99Ms] as const;
  });
  return [
    ratioRow({
      name: `request p99 at ${SHARE_OF_PEAK * 100} % of the peak, against bare`,
      note: `both at ${perSecond} requests a second, ${SHARE_OF_PEAK * 100} % of Foyer's peak, for ${MIXED_TRAFFIC}`,
      unit: 'ms',
      reach: { atMost: 3 },
      pairs,
    }),
  ];
}
