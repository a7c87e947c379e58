/** One request that a server may be sent. */
export interface Target {
  /** Path and query. */
  readonly path: string;
  /** Headers beside Host and Authorization. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Lower bound of a window, in milliseconds since the epoch. The path ends where its value belongs; each pass over the targets
   * moves the bound, so that no window is requested twice.
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

/** How far a pass moves a window: about as far as two updates of the sample are apart, so that a pass finds other rows. */
const PASS_MS = 307_000;
/** Length of the bound at the end of a path. */
export const BOUND_LENGTH = '2026-01-01T00:00:00.000Z'.length;

/** Returns path and query of a target in a pass over the targets, counted from 0. */
export function pathIn(pass: number, { path, windowFrom }: Target): string {
  return windowFrom === undefined ? path : path + new Date(windowFrom - pass * PASS_MS).toISOString();
}

/** Returns the bytes of a request. Host includes the port, because links and entity tags of a response depend on it. */
export function requestBytes(port: number, credential: string, target: Target, pass = 0): Buffer {
  const lines = Object.entries(target.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `GET ${pathIn(pass, target)} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
      `Authorization: Bearer ${credential}\r\n${lines.join('')}\r\n`,
  );
}
