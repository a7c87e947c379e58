import { quantile } from '../figures.ts';
import { KeepAliveConnection } from './keep-alive-connection.ts';
import { requestBytes, type Traffic } from './traffic.ts';

/**
 * An open-loop load generator: it sends at a fixed rate, whether or not responses arrive. A generator that waits for responses
 * would send less just when the server is slow. (Common generators send a second's requests in one burst and count whole
 * milliseconds, which is too coarse for the comparisons here.)
 */

export interface SteadyLoad extends Traffic {
  readonly perSecond: number;
  readonly connections: number;
}

/** Starts a load, reports since the last report and continues, or reports and stops. */
export type SteadyCommand = { readonly start: SteadyLoad } | 'report' | 'stop';

/** Covers the requests that were due since the last report. */
export interface SteadyReport {
  readonly requests: number;
  /** Responses with an unexpected status, and lost connections. */
  readonly failed: number;
  /** From the time a request was due to the last byte of its response, with the wait for a free connection. */
  readonly p99Ms: number;
}

const TICK_MS = 1;

/** The requests that are due between two reports. */
class Interval {
  readonly #latencies: number[] = [];
  #due = 0;
  #failed = 0;
  #onComplete: ((report: SteadyReport) => void) | undefined;

  addRequest(): void {
    this.#due++;
  }

  addResponse(latencyMs: number, isExpected: boolean): void {
    this.#latencies.push(latencyMs);
    if (!isExpected) this.#failed++;
    this.#reportIfComplete();
  }

  /** @param onComplete is called when every request has its response */
  end(onComplete: (report: SteadyReport) => void): void {
    this.#onComplete = onComplete;
    this.#reportIfComplete();
  }

  #reportIfComplete(): void {
    if (this.#latencies.length < this.#due) return;
    this.#onComplete?.({
      requests: this.#due,
      failed: this.#failed,
      p99Ms: quantile(this.#latencies, 0.99),
    });
  }
}

/** A running load. */
class Generator {
  readonly #load: SteadyLoad;
  readonly #requests: readonly Buffer[];
  readonly #waiting: { readonly dueAt: number; readonly interval: Interval }[] = [];
  readonly #open = new Set<KeepAliveConnection>();
  readonly #idle: KeepAliveConnection[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #startedAt = performance.now();
  #interval = new Interval();
  #due = 0;
  #sent = 0;
  #isOver = false;

  constructor(load: SteadyLoad) {
    this.#load = load;
    this.#requests = load.targets.map((target) => requestBytes(load.port, load.credential, target));
    for (let i = 0; i < load.connections; i++) this.#connect();
    this.#timer = setInterval(() => {
      this.#tick();
    }, TICK_MS);
  }

  report(onReport: (report: SteadyReport) => void): void {
    const ended = this.#interval;
    this.#interval = new Interval();
    ended.end(onReport);
  }

  stop(onReport: (report: SteadyReport) => void): void {
    clearInterval(this.#timer);
    this.report((report) => {
      this.#isOver = true;
      for (const connection of this.#open) connection.close();
      onReport(report);
    });
  }

  #tick(): void {
    // A request that the generator itself delayed is due now: only the server's delays count.
    const now = performance.now();
    for (; this.#due < ((now - this.#startedAt) * this.#load.perSecond) / 1000; this.#due++) {
      this.#interval.addRequest();
      this.#waiting.push({ dueAt: now, interval: this.#interval });
    }
    this.#sendWaiting();
  }

  #connect(): void {
    const connection = new KeepAliveConnection(this.#load.port, () => {
      this.#open.delete(connection);
      const at = this.#idle.indexOf(connection);
      if (at >= 0) this.#idle.splice(at, 1);
      if (!this.#isOver) this.#connect();
    });
    this.#open.add(connection);
    this.#idle.push(connection);
  }

  #sendWaiting(): void {
    while (this.#waiting.length > 0) {
      const connection = this.#idle.shift();
      if (connection === undefined) return;
      const request = this.#waiting.shift();
      if (request === undefined) return;
      connection.send(this.#requests[this.#sent++ % this.#requests.length], (status) => {
        request.interval.addResponse(performance.now() - request.dueAt, status === this.#load.status);
        if (status === 0) return;
        this.#idle.push(connection);
        this.#sendWaiting();
      });
    }
  }
}

let generator: Generator | undefined;
const EMPTY: SteadyReport = { requests: 0, failed: 0, p99Ms: 0 };

process.on('message', (command: SteadyCommand) => {
  const send = (report: SteadyReport) => process.send?.(report);
  if (command === 'report') generator?.report(send);
  else if (command === 'stop') generator?.stop(send);
  else {
    generator = new Generator(command.start);
    send(EMPTY);
  }
});
process.once('disconnect', () => process.exit());
