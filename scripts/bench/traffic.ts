/** One thing that may be asked for. */
export interface Target {
  /** With its query. */
  readonly path: string;
  /** Beside Host and Authorization. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What is asked of a server on this machine. */
export interface Traffic {
  readonly port: number;
  readonly credential: string;
  /** Asked for in turn. */
  readonly targets: readonly Target[];
  /** What each is to be answered with. */
  readonly status: number;
}

/** The bytes of a request. The host is named with its port: links and entity tags of an answer depend on it. */
export function requestBytes(port: number, credential: string, { path, headers = {} }: Target): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${credential}\r\n${lines.join('')}\r\n`,
  );
}
