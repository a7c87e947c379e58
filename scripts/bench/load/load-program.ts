import { setTimeout as pause } from 'node:timers/promises';
import { quantile } from '../rows.ts';
import { KeepAliveConnection } from './keep-alive-connection.ts';
import { requestBytes, type Traffic } from './traffic.ts';

/**
 * A load generator. In an open loop, it sends at a fixed rate, whether or not responses arrive: a generator that waits for
 * responses would send less just when the server is slow. In a closed loop, each connection sends its next request as soon
 * as it has the response to the last. (Common generators repeat a few requests, send a second's requests in one burst, and
 * count whole milliseconds, which is too coarse for the comparisons here.)
 */

export interface Load extends Traffic {
  /** Requests due a second; without it, the loop is closed. */
  readonly perSecond?: number;
  readonly connections: number;
  /** Whether a due request that finds no free connection is not sent: beyond a server's capacity, ever more would wait. */
  readonly omitsUnsent?: boolean;
  /**
   * Whether the generator polls for responses instead of sleeping. A server has to wake a sleeping generator in the middle of
   * its write, and the more often, the slower it gets; a client on another machine costs a server nothing of the kind. Polling
   * takes a processor of its own.
   */
  readonly polls?: boolean;
}

/** Starts a load, reports since the last report and continues, or reports and stops. */
type LoadCommand = { readonly start: Load } | 'report' | 'stop';

/** Covers the requests that were due since the last report. */
export interface LoadReport {
  readonly due: number;
  /** Requests that found no free connection. */
  readonly unsent: number;
  /** Responses with status 429, unless that is expected. */
  readonly refused: number;
  /** Responses with another unexpected status, and lost connections. */
  readonly failed: number;
  /** Expected responses that arrived since the last report, and how many a second. */
  readonly arrived: number;
  readonly perSecond: number;
  /** From the time a request was due to the last byte of its expected response, with the wait for a free connection. */
  readonly p99Ms: number;
  /** Share of the time in which the generator was busy. Near 1 the figures are those of the generator, not of the server. */
  readonly busy: number;
}

const TICK_MS = 1;
/** Requests in progress while connections are opened: fewer than a backlog holds. */
const OPENED_AT_ONCE = 200;
const REFUSED = 429;

/** The requests that are due between two reports. */
class Interval {
  readonly startedAt = performance.now();
  readonly usage = process.cpuUsage();
  readonly counts = { due: 0, unsent: 0, refused: 0, failed: 0, arrived: 0 };
  readonly latencies: number[] = [];
  pending = 0;
  /** Time between two polls of which the second found no response. */
  idleMs = 0;
}

/**
 * Requests sent so far, to all servers. A load resumes the rotation where the last one ended: no server is measured by the
 * first targets alone, and no window is sent twice.
 */
let sent = 0;

/** A running load. */
class Generator {
  readonly #load: Load;
  readonly #requests: readonly Buffer[];
  readonly #open = new Set<KeepAliveConnection>();
  /** Free connections, the longest free first. */
  readonly #free: KeepAliveConnection[] = [];
  /** Requests that are due and not sent. */
  #waiting: { readonly dueAt: number; readonly interval: Interval }[] = [];
  #opening = 0;
  #startedAt = Infinity;
  #isOver = false;
  #due = 0;
  #interval = new Interval();

  constructor(load: Load) {
    this.#load = load;
    this.#requests = load.targets.map((target) => requestBytes(load, target));
  }

  /** Opens the connections, and starts to send. */
  async start(): Promise<void> {
    const { connections, perSecond, polls } = this.#load;
    for (let i = 0; i < connections; i++) {
      while (this.#opening >= OPENED_AT_ONCE) await pause(TICK_MS);
      this.#connect();
    }
    while (this.#opening > 0) await pause(TICK_MS);
    this.#startedAt = performance.now();
    this.#interval = new Interval();
    if (perSecond !== undefined) void this.#tick();
    if (polls) this.#poll(this.#startedAt, 0);
    this.#sendDue();
  }

  async report(): Promise<LoadReport> {
    // A very short load lasts until its first response: without one there is no rate.
    while (this.#load.perSecond === undefined && this.#interval.counts.arrived === 0) await pause(TICK_MS);
    const ended = this.#interval;
    this.#interval = new Interval();
    const { counts, latencies, idleMs } = ended;
    const ms = performance.now() - ended.startedAt;
    const { user, system } = process.cpuUsage(ended.usage);
    while (ended.pending > 0) await pause(TICK_MS);
    return {
      ...counts,
      perSecond: counts.arrived / (ms / 1000),
      p99Ms: quantile(latencies, 0.99),
      busy: this.#load.polls ? 1 - idleMs / ms : (user + system) / 1000 / ms,
    };
  }

  async stop(): Promise<LoadReport> {
    this.#isOver = true;
    const report = await this.report();
    for (const connection of this.#open) connection.close();
    return report;
  }

  async #tick(): Promise<void> {
    while (!this.#isOver) {
      await pause(TICK_MS);
      this.#sendDue();
    }
  }

  #poll(polledAt: number, seen: number): void {
    const now = performance.now();
    const { arrived } = this.#interval.counts;
    if (arrived === seen) this.#interval.idleMs += now - polledAt;
    if (!this.#isOver)
      setImmediate(() => {
        this.#poll(now, arrived);
      });
  }

  /** Sends the requests that are due. Responses call it as well: while many arrive, timers do not run. */
  #sendDue(): void {
    const { perSecond, omitsUnsent } = this.#load;
    // A request that the generator itself delayed is due now: only the server's delays count.
    const now = performance.now();
    if (!this.#isOver && now >= this.#startedAt) {
      const due =
        perSecond === undefined
          ? this.#due + this.#free.length
          : ((now - this.#startedAt) * perSecond) / 1000;
      for (; this.#due < due; this.#due++) {
        this.#interval.counts.due++;
        this.#interval.pending++;
        this.#waiting.push({ dueAt: now, interval: this.#interval });
      }
    }
    while (this.#waiting.length > 0 && this.#free.length > 0) this.#send();
    if (!omitsUnsent) return;
    for (const { interval } of this.#waiting) {
      interval.counts.unsent++;
      interval.pending--;
    }
    this.#waiting = [];
  }

  #send(): void {
    const [connection, request] = [this.#free.shift(), this.#waiting.shift()];
    if (connection === undefined || request === undefined) return;
    const { dueAt, interval } = request;
    connection.send(this.#nextRequest(), (status) => {
      interval.pending--;
      if (status === this.#load.status) {
        this.#interval.counts.arrived++;
        interval.latencies.push(performance.now() - dueAt);
      } else if (status === REFUSED) interval.counts.refused++;
      else interval.counts.failed++;
      if (status !== 0) this.#release(connection);
    });
  }

  #nextRequest(): Buffer {
    const { targets } = this.#load;
    const i = sent % targets.length;
    const pass = 1 + Math.floor(sent++ / targets.length);
    return targets[i].windowFrom === undefined
      ? this.#requests[i]
      : requestBytes(this.#load, targets[i], pass);
  }

  /** Opens a connection by a request that is not measured. */
  #connect(): void {
    this.#opening++;
    const connection = new KeepAliveConnection(this.#load.port, () => {
      this.#open.delete(connection);
      const at = this.#free.indexOf(connection);
      if (at >= 0) this.#free.splice(at, 1);
      if (this.#startedAt === Infinity)
        throw new Error(`not ${this.#load.connections} connections can be open`);
      if (!this.#isOver)
        setTimeout(() => {
          this.#connect();
        }, TICK_MS);
    });
    this.#open.add(connection);
    connection.send(this.#nextRequest(), (status) => {
      this.#opening--;
      if (status !== 0) this.#release(connection);
    });
  }

  #release(connection: KeepAliveConnection): void {
    this.#free.push(connection);
    this.#sendDue();
  }
}

let generator: Generator | undefined;

async function reply(command: LoadCommand): Promise<LoadReport | undefined> {
  if (command === 'report') return await generator?.report();
  if (command === 'stop') return await generator?.stop();
  generator = new Generator(command.start);
  await generator.start();
  return undefined;
}

process.on('message', (command: LoadCommand) => {
  void reply(command).then((report) => process.send?.(report ?? 'started'));
});
process.once('disconnect', () => process.exit());
