import { type Agent, get } from 'node:http';
import type { Target } from './traffic.ts';

/** An answer as it came. */
export interface Answer {
  readonly status: number;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/**
 * Sends one request to a server on this machine, outside of any measurement.
 * @param agent keeps the connection for the next request; without one the connection ends
 */
export async function askOnce(
  port: number,
  credential: string,
  { path, headers }: Target,
  agent: Agent | false = false,
): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const request = get(
      {
        host: '127.0.0.1',
        port,
        path,
        agent,
        headers: { authorization: `Bearer ${credential}`, ...headers },
      },
      (response) => {
        response.toArray().then((chunks: Buffer[]) => {
          const { statusCode: status = 0, rawHeaders } = response;
          resolve({ status, rawHeaders, body: Buffer.concat(chunks) });
        }, reject);
      },
    );
    request.once('error', reject);
  });
}

/** The value of a header; empty when there is none. */
export function headerOf({ rawHeaders }: Answer, name: string): string {
  const at = rawHeaders.findIndex((text, i) => i % 2 === 0 && text.toLowerCase() === name);
  return at < 0 ? '' : rawHeaders[at + 1];
}
