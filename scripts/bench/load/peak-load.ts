import { setTimeout as pause } from 'node:timers/promises';
import { KeepAliveConnection } from './keep-alive-connection.ts';
import { requestBytes, type Traffic } from './traffic.ts';

/** A process that, when it is told to, asks as fast as answers come. */

const LEAST_MS = 5;

export interface PeakLoad extends Traffic {
  readonly seconds: number;
  readonly connections: number;
  /**
   * Whether the process goes on looking for answers when there are none. One that sleeps has to be woken by the server, in
   * the middle of its write, and the more often the slower that is: a client on another machine costs a server nothing of the
   * kind. It takes a processor of its own.
   */
  readonly staysAwake: boolean;
}

export interface PeakAnswer {
  readonly requests: number;
  readonly perSecond: number;
  /** Requests that were not answered as they should. */
  readonly failed: number;
  /** Share of the time in which this process had something to do: at 1 it would be what is measured, not the server. */
  readonly busy: number;
}

/**
 * Requests sent so far, to all servers. A load goes on in the rotation where the last one ended: no server is measured by the first
 * targets alone, and no window comes twice.
 */
let sent = 0;

async function measure(load: PeakLoad): Promise<PeakAnswer> {
  const { port, credential, targets, status, seconds, connections, staysAwake } = load;
  const requests = targets.map((target) => requestBytes(port, credential, target));
  const nextRequest = (): Buffer => {
    const i = sent % targets.length;
    const pass = 1 + Math.floor(sent++ / targets.length);
    return targets[i].windowFrom === undefined
      ? requests[i]
      : requestBytes(port, credential, targets[i], pass);
  };
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
      connection.ask(nextRequest(), (got) => {
        if (isOver) return;
        if (got === status) answered++;
        else failed++;
        if (got !== 0) ask();
      });
    };
    ask();
  };
  let idleMs = 0;
  let lookedAt = performance.now();
  let seen = 0;
  const look = () => {
    const now = performance.now();
    if (answered === seen) idleMs += now - lookedAt;
    lookedAt = now;
    seen = answered;
    if (!isOver) setImmediate(look);
  };
  const beganAt = performance.now();
  const usage = process.cpuUsage();
  if (staysAwake) look();
  for (let i = 0; i < connections; i++) connect();
  await pause(seconds * 1000);
  // In less than one answer's time nothing can be told.
  while (answered + failed === 0) await pause(LEAST_MS);
  isOver = true;
  const took = (performance.now() - beganAt) / 1000;
  const { user, system } = process.cpuUsage(usage);
  for (const connection of open) connection.close();
  const busy = staysAwake ? 1 - idleMs / 1000 / took : (user + system) / 1e6 / took;
  return { requests: answered, perSecond: answered / took, failed, busy };
}

process.on('message', (load: PeakLoad) => void measure(load).then((answer) => process.send?.(answer)));
process.once('disconnect', () => process.exit());
