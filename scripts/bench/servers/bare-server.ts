import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deserialize } from 'node:v8';
import type { Answer } from '../load/http-client.ts';

/**
 * The limit: `node:http` that sends responses it was given beforehand, one for each path, and does nothing else. Arguments: the file of the
 * responses; how many characters at the end of a target change from request to request and are no part of the path.
 */

const [, , file, changing] = process.argv;
const answers = deserialize(readFileSync(file)) as ReadonlyMap<string, Answer>;
const changingLength = Number(changing);

const server = createServer((request, response) => {
  const { url = '' } = request;
  const answer = answers.get(changingLength === 0 ? url : url.slice(0, -changingLength));
  if (answer === undefined) response.writeHead(404).end();
  else {
    const { status, rawHeaders, body } = answer;
    response.writeHead(status, rawHeaders as string[]);
    if (body.length > 0) response.end(body);
    else response.end();
  }
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
