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

/** Sends the request of a target once, outside of any load, and without compression. */
export function send(
  { port, credential }: Pick<Traffic, 'port' | 'credential'>,
  target: Target,
): Promise<Response> {
  const headers = { Authorization: `Bearer ${credential}`, 'Accept-Encoding': 'identity', ...target.headers };
  return fetch(`http://127.0.0.1:${port}${pathInPass(0, target)}`, { headers });
}

interface CapturedResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/**
 * Requests each target once.
 * @returns the responses by the path of the target
 * @throws Refused when a status differs from the expected one
 */
export async function captureResponses(traffic: Traffic): Promise<Map<string, CapturedResponse>> {
  const responses = new Map<string, CapturedResponse>();
  for (const target of traffic.targets) {
    const response = await send(traffic, target);
    const { status, headers } = response;
    if (status !== traffic.status)
      throw new Refused(`${target.path}: the response has status ${status} instead of ${traffic.status}`);
    responses.set(target.path, { status, headers, body: Buffer.from(await response.arrayBuffer()) });
  }
  return responses;
}
