import { setTimeout as pause } from 'node:timers/promises';
import { quantile } from '../figures.ts';
import { KeepAliveConnection } from './keep-alive-connection.ts';
import { requestBytes, type Traffic } from './traffic.ts';

/**
 * An open-loop load generator beyond the capacity of a server: requests are due at a fixed rate. A request that finds no free
 * connection is not sent, as by a client whose connections are all in use; if such requests waited, their number would grow without
 * bound, whatever the server does.
 */

export interface OpenLoad extends Traffic {
  /** Requests due a second; undefined for a closed loop, in which every free connection sends at once. */
  readonly perSecond: number | undefined;
  readonly connections: number;
  /** Part of the load that is not measured, and length of the rest. */
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

/** The reply to a start comes at the end of the load; a report, when the last response has arrived. */
export type OpenCommand = { readonly start: OpenLoad } | 'report';

/** Covers the requests that were due in the measured time. */
export interface OpenReport {
  readonly due: number;
  /** Requests that found no free connection. */
  readonly unsent: number;
  /** Responses with status 429. */
  readonly refused: number;
  /** Responses with another unexpected status, and lost connections. */
  readonly failed: number;
  /** Expected responses that arrived in the measured time, a second. */
  readonly perSecond: number;
  /** From the time a request was due to the last byte of its expected response. */
  readonly p99Ms: number;
  /** Share of the time in which the generator was busy. */
  readonly busy: number;
}

const TICK_MS = 1;
/** Requests in progress while connections are opened: fewer than a backlog holds. */
const OPENED_AT_ONCE = 200;
const REFUSED = 429;

class Generator {
  readonly #load: OpenLoad;
  readonly #requests: readonly Buffer[];
  readonly #open = new Set<KeepAliveConnection>();
  /** Free connections, the longest free first. */
  #free: KeepAliveConnection[] = [];
  #firstFree = 0;
  readonly #latencies: number[] = [];
  #startedAt = Infinity;
  #measuredFrom = Infinity;
  #endsAt = Infinity;
  #due = 0;
  #sent = 0;
  #counts = { due: 0, unsent: 0, refused: 0, failed: 0, inTime: 0 };
  #pending = 0;
  #busy = 0;

  constructor(load: OpenLoad) {
    this.#load = load;
    const { port, credential, targets } = load;
    this.#requests = targets.map((target) => requestBytes(port, credential, target));
  }

  /** Opens the connections, and sends requests until the end of the load. */
  async run(): Promise<void> {
    const { connections, seconds, warmUpSeconds } = this.#load;
    for (let i = 0; i < connections; i++) {
      while (this.#pending >= OPENED_AT_ONCE) await pause(TICK_MS);
      this.#connect();
    }
    while (this.#pending > 0) await pause(TICK_MS);
    const usage = process.cpuUsage();
    this.#startedAt = performance.now();
    this.#measuredFrom = this.#startedAt + warmUpSeconds * 1000;
    this.#endsAt = this.#measuredFrom + seconds * 1000;
    while (performance.now() < this.#endsAt) {
      this.#sendDue();
      await pause(TICK_MS);
    }
    const { user, system } = process.cpuUsage(usage);
    this.#busy = (user + system) / 1000 / (performance.now() - this.#startedAt);
  }

  async report(): Promise<OpenReport> {
    while (this.#pending > 0) await pause(TICK_MS);
    for (const connection of this.#open) connection.close();
    const { inTime, ...counts } = this.#counts;
    const perSecond = inTime / this.#load.seconds;
    return { ...counts, perSecond, p99Ms: quantile(this.#latencies, 0.99), busy: this.#busy };
  }

  /** Sends the requests that are due. Responses call it as well: while many arrive, timers do not run. */
  #sendDue(): void {
    const { perSecond } = this.#load;
    const now = performance.now();
    if (now < this.#startedAt || now >= this.#endsAt) return;
    for (; ; this.#due++) {
      const dueAt = perSecond === undefined ? now : this.#startedAt + (this.#due * 1000) / perSecond;
      if (dueAt > now) return;
      const connection = this.#takeFree();
      if (connection === undefined && perSecond === undefined) return;
      const isMeasured = dueAt >= this.#measuredFrom;
      if (isMeasured) this.#counts.due++;
      if (connection !== undefined) this.#send(connection, dueAt, isMeasured);
      else if (isMeasured) this.#counts.unsent++;
    }
  }

  #send(connection: KeepAliveConnection, dueAt: number, isMeasured: boolean): void {
    this.#pending++;
    connection.send(this.#nextRequest(), (status) => {
      this.#pending--;
      const now = performance.now();
      const isExpected = status === this.#load.status;
      if (isExpected && now >= this.#measuredFrom && now < this.#endsAt) this.#counts.inTime++;
      if (isMeasured) {
        if (isExpected) this.#latencies.push(now - dueAt);
        else if (status === REFUSED) this.#counts.refused++;
        else this.#counts.failed++;
      }
      if (status === 0) return;
      this.#free.push(connection);
      this.#sendDue();
    });
  }

  #nextRequest(): Buffer {
    const { port, credential, targets } = this.#load;
    const i = this.#sent % targets.length;
    const pass = 1 + Math.floor(this.#sent++ / targets.length);
    return targets[i].windowFrom === undefined
      ? this.#requests[i]
      : requestBytes(port, credential, targets[i], pass);
  }

  #connect(): void {
    const connection = new KeepAliveConnection(this.#load.port, () => {
      this.#open.delete(connection);
      this.#free = this.#free.slice(this.#firstFree).filter((other) => other !== connection);
      this.#firstFree = 0;
      if (performance.now() >= this.#endsAt) return;
      if (this.#startedAt === Infinity)
        throw new Error(`not ${this.#load.connections} connections can be open`);
      this.#connect();
    });
    this.#open.add(connection);
    this.#send(connection, 0, false);
  }

  #takeFree(): KeepAliveConnection | undefined {
    if (this.#firstFree === this.#free.length) return undefined;
    const connection = this.#free[this.#firstFree++];
    if (this.#firstFree > this.#load.connections) {
      this.#free = this.#free.slice(this.#firstFree);
      this.#firstFree = 0;
    }
    return connection;
  }
}

let generator: Generator | undefined;

process.on('message', (command: OpenCommand) => {
  if (command === 'report') void generator?.report().then((report) => process.send?.(report));
  else {
    generator = new Generator(command.start);
    void generator.run().then(() => process.send?.('over'));
  }
});
process.once('disconnect', () => process.exit());
