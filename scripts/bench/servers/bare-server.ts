import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deserialize } from 'node:v8';
import type { CapturedResponse } from '../load/http-client.ts';

/**
 * The upper limit: `node:http` that sends captured responses, one for each path, and does nothing else. Arguments: the file of the
 * responses; the number of characters at the end of a target that vary between requests and are not part of the path.
 */

const [, , file, varying] = process.argv;
const responses = deserialize(readFileSync(file)) as ReadonlyMap<string, CapturedResponse>;
const varyingLength = Number(varying);

const server = createServer((request, response) => {
  const { url = '' } = request;
  const captured = responses.get(varyingLength === 0 ? url : url.slice(0, -varyingLength));
  if (captured === undefined) response.writeHead(404).end();
  else {
    const { status, rawHeaders, body } = captured;
    response.writeHead(status, rawHeaders as string[]);
    if (body.length > 0) response.end(body);
    else response.end();
  }
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
