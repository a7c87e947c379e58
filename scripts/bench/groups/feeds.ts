import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from '../bench-context.ts';
import { buildSuccessor, HALF } from '../changed-tickets.ts';
import { LoadGenerator } from '../load/load-generator.ts';
import { halvesOfPages } from '../load/request-kinds.ts';
import { ratioRow, type Row } from '../rows.ts';
import type { Target } from '../load/traffic.ts';
import { SnapshotContent } from '../snapshot-content.ts';

/** Changes of a feed. */
const CHANGES = 300;
/** A replaced snapshot is released before the next one is live. */
const ENVIRONMENT = { SNAPSHOT_POLL_SECONDS: '0.05', SNAPSHOT_RETAIN_SECONDS: '0.1' };
/** Time after the requests of a round until memory is measured. */
const SETTLE_MS = 1000;

/** A figure after the feeds, and one to compare it with. */
type Pair = readonly [followed: number, against: number];

/**
 * Measures a replica that has followed many feeds, each of which changed tickets of the first half of the list. Its
 * memory is compared with a fresh start of the last snapshot. Its pages of the first half are compared with those of
 * the second: the same requests to two processes differ by up to a fifth.
 */
export async function measureFeeds(context: BenchContext): Promise<Row[]> {
  const { signal, sizes, showProgress } = context.options;
  const { feeds, seconds } = sizes;
  const shape = context.smallShape;
  const folder = mkdtempSync(join(context.options.folder, 'feeds-'));
  // Each feed replaces the file that is not live by the successor of the other one.
  const files = ['even', 'odd'].map((name) => join(folder, `${name}.sqlite`));
  copyFileSync(await context.snapshot(shape), files[0]);
  await using followed = await context.startReplica({ snapshots: files, environment: ENVIRONMENT });
  for (let feed = 1; feed <= feeds; feed++) {
    showProgress(`feed ${feed} of ${feeds}`);
    const [base, output] = [files[(feed - 1) % 2], files[feed % 2]];
    await buildSuccessor(base, output, { distribution: HALF, count: CHANGES, seed: feed }, signal);
    await followed.swap();
  }

  const last = files[feeds % 2];
  using content = new SnapshotContent(last);
  const kinds = halvesOfPages(content);
  await using generator = new LoadGenerator(signal);
  await using fresh = await context.startReplica({ snapshots: [last], environment: ENVIRONMENT });
  const rounds = await context.rounds('after the feeds', async () => {
    const microsecondsOf = async (targets: readonly Target[], replica = followed) =>
      (await generator.measurePeak(replica, replica.traffic(targets), seconds)).serverMicroseconds;
    const microseconds: Pair[] = [];
    for (const { first, second } of kinds)
      microseconds.push([await microsecondsOf(first), await microsecondsOf(second)]);
    // Both processes have answered requests when their memory is measured.
    await microsecondsOf(kinds[0].first, fresh);
    await pause(SETTLE_MS, undefined, { signal });
    return {
      microseconds,
      held: [await followed.heldBytes(), await fresh.heldBytes()] as const,
      resident: [(await followed.probe()).residentBytes, (await fresh.probe()).residentBytes] as const,
    };
  });
  rmSync(folder, { recursive: true });
  const feedsOf = `of ${CHANGES} changes at random in the first half of ${shape.tickets} tickets`;
  const note = `${feedsOf}; against a fresh start of the last snapshot`;
  const megabytes = ([figure, against]: Pair): Pair => [figure / 1e6, against / 1e6];
  return [
    ratioRow({
      name: `memory held after ${feeds} feeds`,
      note: `${note}; live and retained data, according to the status`,
      unit: 'MB',
      reach: { atMost: 1.25 },
      pairs: rounds.map(({ held }) => megabytes(held)),
    }),
    ratioRow({
      name: `resident memory after ${feeds} feeds`,
      note: `${note}; of the process, after the requests of the next rows`,
      unit: 'MB',
      reach: { atMost: 1.25 },
      pairs: rounds.map(({ resident }) => megabytes(resident)),
    }),
    ...kinds.map(({ name }, i) =>
      ratioRow({
        name: `${name} after ${feeds} feeds`,
        note: `${feedsOf}, against pages of the second half; processor time of the process for a request`,
        unit: 'µs',
        reach: { atMost: 1.05 },
        pairs: rounds.map(({ microseconds }) => microseconds[i]),
      }),
    ),
  ];
}
