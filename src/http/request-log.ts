import { hostname } from 'node:os';
import type { Logger } from 'pino';

/** What the log tells of a request that was answered. What is not known is empty or undefined, and not told. */
export interface LoggedRequest {
  /** As `requestIdOf` gives it. */
  readonly requestId: string;
  readonly organizationId: string;
  readonly keyId: string;
  /** Id of an operation. */
  readonly operation: string | undefined;
  readonly status: number;
  readonly durationMs: number;
  readonly rows: number | undefined;
  readonly bytes: number;
  /** Whether all of the response was handed to the system. */
  readonly sent: boolean;
}

const LEVEL = 'info';

/**
 * A line of a log for each request, as pino writes it. pino would look anew at each field of each line, which takes
 * longer than to find the record that is asked for; here every line is of the same fields.
 */
export class RequestLog {
  readonly #log: Logger;
  readonly #destination: { write(line: string): void };
  readonly #start: string;
  readonly #bindings: string;

  /**
   * @param log whose level and bindings the lines have
   * @param destination where that log goes
   */
  constructor(log: Logger, destination: { write(line: string): void }) {
    this.#log = log;
    this.#destination = destination;
    this.#start = `{"level":${log.levels.values[LEVEL]},"time":`;
    // The first two stand on every line of pino, which does not name them among the bindings.
    const bindings = { pid: process.pid, hostname: hostname(), ...log.bindings() };
    this.#bindings = JSON.stringify(bindings).slice(1, -1);
  }

  write(request: LoggedRequest): void {
    if (!this.#log.isLevelEnabled(LEVEL)) return;
    const { requestId, organizationId, keyId, operation, status, durationMs, rows, bytes, sent } = request;
    let line = `${this.#start}${Date.now()},${this.#bindings},"requestId":"${requestId}"`;
    if (organizationId !== '') line += `,"organizationId":${JSON.stringify(organizationId)}`;
    if (keyId !== '') line += `,"keyId":${JSON.stringify(keyId)}`;
    if (operation !== undefined) line += `,"operation":"${operation}"`;
    line += `,"status":${status},"durationMs":${durationMs}`;
    if (rows !== undefined) line += `,"rows":${rows}`;
    line += `,"bytes":${bytes}`;
    if (!sent) line += ',"sent":false';
    this.#destination.write(`${line},"msg":"request"}\n`);
  }
}
