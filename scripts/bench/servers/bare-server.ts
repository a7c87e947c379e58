import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { deserialize } from 'node:v8';
import type { CapturedResponse } from '../load/http-client.ts';

/**
 * The upper limit: `node:http` that sends captured responses, one for each path, and does nothing else. Arguments: the
 * file of the responses; the number of characters at the end of a target that vary between requests and are not part
 * of the path; the length of the chunks in which bodies are streamed, 0 for whole bodies.
 */

const [, , file, varying, chunk] = process.argv;
const responses = deserialize(readFileSync(file)) as ReadonlyMap<string, CapturedResponse>;
const varyingLength = Number(varying);
const chunkLength = Number(chunk);

function* chunksOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += chunkLength) yield body.subarray(at, at + chunkLength);
}

const server = createServer((request, response) => {
  const { url = '' } = request;
  const captured = responses.get(varyingLength === 0 ? url : url.slice(0, -varyingLength));
  if (captured === undefined) response.writeHead(404).end();
  else {
    const { status, rawHeaders, body } = captured;
    response.writeHead(status, rawHeaders as string[]);
    if (chunkLength > 0) pipeline(chunksOf(body), response, () => undefined);
    else if (body.length > 0) response.end(body);
    else response.end();
  }
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
