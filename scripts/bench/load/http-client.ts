import { writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { serialize } from 'node:v8';
import { Refused } from '../../run-command.ts';
import { pathInPass, type Target, type Traffic } from './traffic.ts';

/** Requests outside of any measurement, with whole responses. */

export interface CapturedResponse {
  readonly status: number;
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** Headers that Node adds to every response by itself. */
const ADDED_BY_NODE = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

/**
 * Sends one request to a server on this machine.
 * @param agent keeps the connection open; without one the connection closes after the response
 */
export async function sendRequest(
  port: number,
  credential: string,
  { path, headers }: Target,
  agent: Agent | false = false,
): Promise<CapturedResponse> {
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

/**
 * Requests each target once.
 * @returns the responses by the path of the target
 * @throws Refused when a status differs from the expected one
 */
export async function captureResponses({
  port,
  credential,
  targets,
  status,
}: Traffic): Promise<Map<string, CapturedResponse>> {
  const responses = new Map<string, CapturedResponse>();
  const agent = new Agent({ keepAlive: true });
  try {
    for (const target of targets) {
      const path = pathInPass(0, target);
      const response = await sendRequest(port, credential, { path, headers: target.headers ?? {} }, agent);
      if (response.status !== status) {
        throw new Refused(`${path}: the response has status ${response.status} instead of ${status}`);
      }
      responses.set(target.path, response);
    }
  } finally {
    agent.destroy();
  }
  return responses;
}

/** Writes captured responses to the file that the bare server reads. */
export function writeResponses(file: string, responses: ReadonlyMap<string, CapturedResponse>): void {
  const entries = Array.from(responses, ([path, { rawHeaders, ...response }]): [string, CapturedResponse] => {
    const isKept = (i: number) => !ADDED_BY_NODE.has(rawHeaders[i - (i % 2)].toLowerCase());
    return [path, { ...response, rawHeaders: rawHeaders.filter((_, i) => isKept(i)) }];
  });
  writeFileSync(file, serialize(new Map(entries)));
}

/** Returns the value of a header; empty when it is absent. */
export function headerOf({ rawHeaders }: CapturedResponse, name: string): string {
  const at = rawHeaders.findIndex((text, i) => i % 2 === 0 && text.toLowerCase() === name);
  return at < 0 ? '' : rawHeaders[at + 1];
}
