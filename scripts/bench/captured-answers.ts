import { writeFileSync } from 'node:fs';
import { serialize } from 'node:v8';
import { Refused } from '../run-command.ts';
import { askOnce } from './ask-once.ts';
import type { Answer } from './ask-once.ts';
import type { Traffic } from './traffic.ts';

/** What Node writes by itself. */
const WRITTEN_BY_NODE = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding']);

/**
 * Asks for all of the targets once.
 * @returns the answers, by path
 * @throws Refused when the status of one is another than it should be
 */
export async function captureAnswers({
  port,
  credential,
  targets,
  status,
}: Traffic): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>();
  for (const target of targets) {
    const answer = await askOnce(port, credential, target);
    if (answer.status !== status) {
      throw new Refused(`${target.path} was answered with ${answer.status} instead of ${status}`);
    }
    answers.set(target.path, answer);
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
