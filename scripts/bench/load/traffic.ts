import { Agent, get } from 'node:http';
import { Refused } from '../../run-command.ts';

/** One request that a server may be sent. */
export interface Target {
  /** Path and query. */
  readonly path: string;
  /** Headers other than Host and Authorization. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Lower bound of a window, in milliseconds since the epoch. The path ends where its value belongs; each pass over the
   * targets moves the bound, so that no window is requested twice.
   */
  readonly windowFrom?: number;
}

/** Requests to a server on this machine. */
export interface Traffic {
  readonly port: number;
  readonly credential: string;
  /** Sent in rotation. */
  readonly targets: readonly Target[];
  /** Expected status of every response. */
  readonly status: number;
}

/**
 * Rate limit of the servers under test, in requests a minute: the highest that Foyer accepts. The limiter counts and sends
 * its headers, but never refuses.
 */
export const UNREACHED_RATE_LIMIT = 16_000_000;

/** Shift of a window in each pass: about the time between two updates of the sample, so that each pass selects other rows. */
const PASS_MS = 307_000;
/** Length of the bound at the end of a path. */
const BOUND_LENGTH = '2026-01-01T00:00:00.000Z'.length;

/** Returns path and query of a target in a pass over the targets, counted from 0. */
function pathInPass(pass: number, { path, windowFrom }: Target): string {
  return windowFrom === undefined ? path : path + new Date(windowFrom - pass * PASS_MS).toISOString();
}

/** Returns the path of a target of which this is the path in a pass. */
export function pathOfTarget(path: string, hasWindow: boolean): string {
  return hasWindow ? path.slice(0, -BOUND_LENGTH) : path;
}

export function hasWindows(targets: readonly Target[]): boolean {
  return targets.some(({ windowFrom }) => windowFrom !== undefined);
}

/** Returns the bytes of a request. Host includes the port, because links and entity tags of a response depend on it. */
export function requestBytes({ port, credential }: Traffic, target: Target, pass = 0): Buffer {
  const lines = Object.entries(target.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `GET ${pathInPass(pass, target)} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
      `Authorization: Bearer ${credential}\r\n${lines.join('')}\r\n`,
  );
}

/** A response to a request outside of any measurement. */
interface CapturedResponse {
  readonly status: number;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  readonly headers: Readonly<NodeJS.Dict<string | string[]>>;
  readonly body: Buffer;
}

/**
 * Sends one request to a server on this machine.
 * @param agent keeps the connection open; without one the connection closes after the response
 */
export async function sendRequest(
  { port, credential }: Pick<Traffic, 'port' | 'credential'>,
  target: Target,
  agent: Agent | false = false,
): Promise<CapturedResponse> {
  const headers = { authorization: `Bearer ${credential}`, ...target.headers };
  return await new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: pathInPass(0, target), agent, headers }, (response) => {
      response.toArray().then((chunks: Buffer[]) => {
        const { statusCode: status = 0, rawHeaders, headers } = response;
        resolve({ status, rawHeaders, headers, body: Buffer.concat(chunks) });
      }, reject);
    }).once('error', reject);
  });
}

/**
 * Requests each target once.
 * @returns the responses by the path of the target
 * @throws Refused when a status differs from the expected one
 */
export async function captureResponses(traffic: Traffic): Promise<Map<string, CapturedResponse>> {
  const responses = new Map<string, CapturedResponse>();
  const agent = new Agent({ keepAlive: true });
  try {
    for (const target of traffic.targets) {
      const response = await sendRequest(traffic, target, agent);
      if (response.status !== traffic.status) {
        throw new Refused(
          `${target.path}: the response has status ${response.status} instead of ${traffic.status}`,
        );
      }
      responses.set(target.path, response);
    }
  } finally {
    agent.destroy();
  }
  return responses;
}
