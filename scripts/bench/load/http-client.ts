import { writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { serialize } from 'node:v8';
import { Refused } from '../../run-command.ts';
import { pathIn, type Target, type Traffic } from './traffic.ts';

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

/** What Node writes by itself. */
const WRITTEN_BY_NODE = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

/**
 * Requests each target once.
 * @returns the responses by the path of the target
 * @throws Refused when a status differs from the expected one
 */
export async function captureAnswers({
  port,
  credential,
  targets,
  status,
}: Traffic): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>();
  const agent = new Agent({ keepAlive: true });
  try {
    for (const { path, headers = {}, windowFrom } of targets) {
      const whole = windowFrom === undefined ? path : pathIn(0, { path, windowFrom });
      const answer = await askOnce(port, credential, { path: whole, headers }, agent);
      if (answer.status !== status) {
        throw new Refused(`${whole} was answered with ${answer.status} instead of ${status}`);
      }
      answers.set(path, answer);
    }
  } finally {
    agent.destroy();
  }
  return answers;
}

/** Writes answers for the bare server. */
export function writeAnswers(file: string, answers: ReadonlyMap<string, Answer>): void {
  const told = Array.from(answers, ([path, { rawHeaders, ...answer }]): [string, Answer] => {
    const isKept = (i: number) => !WRITTEN_BY_NODE.has(rawHeaders[i - (i % 2)].toLowerCase());
    return [path, { ...answer, rawHeaders: rawHeaders.filter((_, i) => isKept(i)) }];
  });
  writeFileSync(file, serialize(new Map(told)));
}
