import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deserialize } from 'node:v8';
import type { Answer } from './ask-once.ts';

/**
 * The limit: `node:http` sending bytes that it was told beforehand, for each path its own, and nothing else.
 * Its argument is the file that they are in.
 */

const [, , file] = process.argv;
const answers = deserialize(readFileSync(file)) as ReadonlyMap<string, Answer>;

const server = createServer((request, response) => {
  const answer = answers.get(request.url ?? '');
  if (answer === undefined) response.writeHead(404).end();
  else {
    const { status, rawHeaders, body } = answer;
    response.writeHead(status, rawHeaders as string[]);
    if (body.length > 0) response.end(body);
    else response.end();
  }
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
