import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { serialize } from 'node:v8';
import { Refused } from '../run-command.ts';
import { type Answer, askOnce } from './ask-once.ts';
import { pathIn, type Traffic } from './traffic.ts';

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
