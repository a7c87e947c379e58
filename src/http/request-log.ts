import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { flatText } from './flat-text.ts';

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

/** Whose key it was, as it stands on a line. */
interface Caller {
  readonly organizationId: string;
  readonly text: string;
}

/**
 * A line of a log for each request, as pino writes it. pino would look anew at each field of each line, which takes
 * longer than to find the record that is asked for; here every line is of the same fields, and the parts that many lines
 * have are put together once.
 */
export class RequestLog {
  readonly #log: Logger;
  readonly #destination: { write(line: string): void };
  readonly #start: string;
  readonly #bindings: string;
  #now = NaN;
  /** What the lines of this millisecond begin with. */
  #beginning = '';
  /** By id of the key, of which there are no more than keys files had. */
  readonly #callers = new Map<string, Caller>();

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
    const beginning = this.#beginningAt(Date.now());
    const caller = this.#callerOf(keyId, organizationId);
    const answered = operation === undefined ? '' : `,"operation":"${operation}"`;
    const told = rows === undefined ? '' : `,"rows":${rows}`;
    const broken = sent ? '' : ',"sent":false';
    this.#destination.write(
      `${beginning}${requestId}"${caller}${answered},"status":${status},"durationMs":${durationMs}${told},"bytes":${bytes}${broken},"msg":"request"}\n`,
    );
  }

  #beginningAt(now: number): string {
    if (now !== this.#now) {
      this.#now = now;
      this.#beginning = flatText(`${this.#start}${now},${this.#bindings},"requestId":"`);
    }
    return this.#beginning;
  }

  #callerOf(keyId: string, organizationId: string): string {
    const known = this.#callers.get(keyId);
    if (known?.organizationId === organizationId) return known.text;
    const organization = organizationId === '' ? '' : `,"organizationId":${JSON.stringify(organizationId)}`;
    const key = keyId === '' ? '' : `,"keyId":${JSON.stringify(keyId)}`;
    const text = flatText(organization + key);
    this.#callers.set(keyId, { organizationId, text });
    return text;
  }
}
