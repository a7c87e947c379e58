import { CONTENT_CODINGS, type ContentCoding } from '../../../src/contract/headers.ts';
import type { BenchContext } from '../bench-context.ts';
import { CONNECTIONS, LoadGenerator, type Peak } from '../load/load-generator.ts';
import { pages, tickets } from '../load/request-kinds.ts';
import { sendRequest, type Target } from '../load/traffic.ts';
import { median, ratioRow, type Row } from '../rows.ts';
import type { Replica } from '../servers/replica.ts';
import { SnapshotContent } from '../snapshot-content.ts';

/** Least requests a second, as a multiple of those of plain pages. */
const REACH = 0.5;
const LARGE_PAGE = 100;
/** Rate of the pages that are requested with tickets, as a share of the peak of plain pages. */
const SHARE_OF_PEAK = 0.2;
const TICKETS_PER_SECOND = 1000;

/** Measures the cost of compressed pages: their requests a second, and the response times of others meanwhile. */
export async function measureCompression(context: BenchContext): Promise<Row[]> {
  await using replica = await context.startReplica();
  await using generator = new LoadGenerator(context.options.signal);
  using content = new SnapshotContent(await context.snapshot());
  const rows: Row[] = [];
  let pagesPerSecond = 0;
  for (const size of [25, LARGE_PAGE]) {
    const plain = pages(content, size);
    const kinds = [plain, ...CONTENT_CODINGS.map((coding) => accepting(coding, plain))];
    const rounds = await context.rounds(`compressed pages of ${size}`, async () => {
      const peaks: Peak[] = [];
      for (const targets of kinds) {
        const traffic = replica.traffic(targets);
        peaks.push(await generator.measurePeak(replica, traffic, context.options.sizes.seconds));
      }
      return peaks;
    });
    const lengthOf = async ([target]: readonly Target[]) =>
      (await sendRequest(replica.traffic([]), target)).body.length;
    const lengths = await Promise.all(kinds.map(lengthOf));
    const microseconds = (i: number) =>
      Math.round(median(rounds.map((peaks) => peaks[i].serverMicroseconds)));
    pagesPerSecond = Math.ceil(median(rounds.map((peaks) => peaks[0].perSecond)) * SHARE_OF_PEAK);
    for (const [i, coding] of CONTENT_CODINGS.entries()) {
      rows.push(
        ratioRow({
          name: `page of ${size} in ${coding}, against plain`,
          note:
            `${lengths[i + 1]} against ${lengths[0]} bytes, plain while the thread pool is full; ` +
            `${microseconds(i + 1)} against ${microseconds(0)} µs of processor time of the server for a request`,
          unit: 'requests/s',
          reach: { atLeast: REACH },
          pairs: rounds.map((peaks) => [peaks[i + 1].perSecond, peaks[0].perSecond]),
        }),
      );
    }
  }
  return [...rows, await measureOthers(context, replica, content, generator, pagesPerSecond)];
}

/** Measures the p99 of requests for tickets while others request compressed pages, against plain pages. */
async function measureOthers(
  context: BenchContext,
  replica: Replica,
  content: SnapshotContent,
  pageLoad: LoadGenerator,
  pagesPerSecond: number,
): Promise<Row> {
  await using ticketLoad = new LoadGenerator(context.options.signal);
  const plain = pages(content, LARGE_PAGE);
  const ticketTargets = tickets(content);
  const p99With = async (targets: readonly Target[]): Promise<number> => {
    const measure = (generator: LoadGenerator, requested: readonly Target[], perSecond: number) =>
      generator.measure(
        { ...replica.traffic(requested), perSecond, connections: CONNECTIONS / 2 },
        context.options.sizes.seconds,
      );
    const [{ p99Ms }] = await Promise.all([
      measure(ticketLoad, ticketTargets, TICKETS_PER_SECOND),
      measure(pageLoad, targets, pagesPerSecond),
    ]);
    return p99Ms;
  };
  return ratioRow({
    name: `ticket p99 with pages of ${LARGE_PAGE} in gzip, against plain`,
    note: `${pagesPerSecond} pages and ${TICKETS_PER_SECOND} tickets a second`,
    unit: 'ms',
    reach: { atMost: 2 },
    pairs: await context.rounds('tickets with compressed pages', async () => {
      const uncompressed = await p99With(plain);
      return [await p99With(accepting('gzip', plain)), uncompressed];
    }),
  });
}

function accepting(coding: ContentCoding, targets: readonly Target[]): Target[] {
  return targets.map((target) => ({ ...target, headers: { 'Accept-Encoding': coding } }));
}
