import autocannon from 'autocannon';
import type { Traffic } from './traffic.ts';

/** A process that, when it is told to, asks as fast as answers come. */

export interface PeakLoad extends Traffic {
  readonly seconds: number;
  readonly connections: number;
}

export interface PeakAnswer {
  readonly perSecond: number;
  /** Requests that were not answered with 200. */
  readonly failed: number;
}

const { port, credential, paths, seconds, connections } = JSON.parse(process.argv[2]) as PeakLoad;

async function measure(): Promise<PeakAnswer> {
  const result = await autocannon({
    url: `http://127.0.0.1:${port}`,
    headers: { authorization: `Bearer ${credential}` },
    requests: paths.map((path) => ({ path })),
    duration: seconds,
    connections,
  });
  return { perSecond: result['2xx'] / result.duration, failed: result.non2xx + result.errors };
}

process.on('message', () => void measure().then((answer) => process.send?.(answer)));
process.once('disconnect', () => process.exit());
