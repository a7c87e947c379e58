import { get } from 'node:http';
import type { Target } from './traffic.ts';

/** An answer as it came. */
export interface Answer {
  readonly status: number;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** Asks a server on this machine, when no time is taken. */
export async function askOnce(port: number, credential: string, { path, headers }: Target): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const request = get(
      {
        host: '127.0.0.1',
        port,
        path,
        agent: false,
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
