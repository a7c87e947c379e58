import { setTimeout as pause } from 'node:timers/promises';
import { KeepAliveConnection } from './keep-alive-connection.ts';
import { requestBytes, type Traffic } from './traffic.ts';

/** A closed-loop load generator: each connection sends its next request as soon as it has the response to the last. */

const POLL_MS = 5;

export interface PeakLoad extends Traffic {
  readonly seconds: number;
  readonly connections: number;
  /**
   * Whether the generator polls for responses instead of sleeping. A server has to wake a sleeping generator in the middle of its
   * write, and the more often, the slower it gets; a client on another machine costs a server nothing of the kind. Polling takes
   * a processor of its own.
   */
  readonly busyPolls: boolean;
}

export interface PeakReport {
  readonly requests: number;
  readonly perSecond: number;
  /** Responses with an unexpected status, and lost connections. */
  readonly failed: number;
  /** Share of the time in which the generator was busy. Near 1 the figures are those of the generator, not of the server. */
  readonly busy: number;
}

/**
 * Requests sent so far, to all servers. A load resumes the rotation where the last one ended: no server is measured by the first
 * targets alone, and no window is sent twice.
 */
let sent = 0;

async function measure(load: PeakLoad): Promise<PeakReport> {
  const { port, credential, targets, status, seconds, connections, busyPolls } = load;
  const requests = targets.map((target) => requestBytes(port, credential, target));
  const nextRequest = (): Buffer => {
    const i = sent % targets.length;
    const pass = 1 + Math.floor(sent++ / targets.length);
    return targets[i].windowFrom === undefined
      ? requests[i]
      : requestBytes(port, credential, targets[i], pass);
  };
  let succeeded = 0;
  let failed = 0;
  let isOver = false;
  const open = new Set<KeepAliveConnection>();
  const connect = () => {
    const connection = new KeepAliveConnection(port, () => {
      open.delete(connection);
      if (!isOver) setTimeout(connect, 1);
    });
    open.add(connection);
    const send = () => {
      connection.send(nextRequest(), (received) => {
        if (isOver) return;
        if (received === status) succeeded++;
        else failed++;
        if (received !== 0) send();
      });
    };
    send();
  };
  let idleMs = 0;
  let polledAt = performance.now();
  let seen = 0;
  const poll = () => {
    const now = performance.now();
    if (succeeded === seen) idleMs += now - polledAt;
    polledAt = now;
    seen = succeeded;
    if (!isOver) setImmediate(poll);
  };
  const startedAt = performance.now();
  const usage = process.cpuUsage();
  if (busyPolls) poll();
  for (let i = 0; i < connections; i++) connect();
  await pause(seconds * 1000);
  // A very short load lasts until its first response: without one there is no rate.
  while (succeeded + failed === 0) await pause(POLL_MS);
  isOver = true;
  const elapsed = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(usage);
  for (const connection of open) connection.close();
  const busy = busyPolls ? 1 - idleMs / 1000 / elapsed : (user + system) / 1e6 / elapsed;
  return { requests: succeeded, perSecond: succeeded / elapsed, failed, busy };
}

process.on('message', (load: PeakLoad) => void measure(load).then((report) => process.send?.(report)));
process.once('disconnect', () => process.exit());
