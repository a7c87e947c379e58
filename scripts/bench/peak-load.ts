import { setTimeout as pause } from 'node:timers/promises';
import { KeepAliveConnection } from './keep-alive-connection.ts';
import { requestBytes } from './traffic.ts';
import type { Traffic } from './traffic.ts';

/** A process that, when it is told to, asks as fast as answers come. */

const LEAST_MS = 5;

export interface PeakLoad extends Traffic {
  readonly seconds: number;
  readonly connections: number;
}

export interface PeakAnswer {
  readonly requests: number;
  readonly perSecond: number;
  /** Requests that were not answered as they should. */
  readonly failed: number;
  /** Share of a processor that this process used: at 1 it would be what is measured, not the server. */
  readonly busy: number;
}

async function measure(load: PeakLoad): Promise<PeakAnswer> {
  const { port, credential, targets, status, seconds, connections } = load;
  const requests = targets.map((target) => requestBytes(port, credential, target));
  let next = 0;
  let answered = 0;
  let failed = 0;
  let isOver = false;
  const open = new Set<KeepAliveConnection>();
  const connect = () => {
    const connection = new KeepAliveConnection(port, () => {
      open.delete(connection);
      if (!isOver) setTimeout(connect, 1);
    });
    open.add(connection);
    const ask = () => {
      connection.ask(requests[next++ % requests.length], (got) => {
        if (isOver) return;
        if (got === status) answered++;
        else failed++;
        if (got !== 0) ask();
      });
    };
    ask();
  };
  const beganAt = performance.now();
  const usage = process.cpuUsage();
  for (let i = 0; i < connections; i++) connect();
  await pause(seconds * 1000);
  // In less than one answer's time nothing can be told.
  while (answered + failed === 0) await pause(LEAST_MS);
  isOver = true;
  const took = (performance.now() - beganAt) / 1000;
  const { user, system } = process.cpuUsage(usage);
  for (const connection of open) connection.close();
  return { requests: answered, perSecond: answered / took, failed, busy: (user + system) / 1e6 / took };
}

process.on('message', (load: PeakLoad) => void measure(load).then((answer) => process.send?.(answer)));
process.once('disconnect', () => process.exit());
