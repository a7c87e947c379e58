import { Agent, get } from 'node:http';
import { Refused } from '../../run-command.ts';
import { pathInPass, type Target, type Traffic } from './traffic.ts';

/** Requests outside of any measurement, with whole responses. */

export interface CapturedResponse {
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
