import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { deserialize } from 'node:v8';
import express from 'express';
import { OPERATIONS, routePath } from '../../../src/contract/operations.ts';
import type { CapturedResponse } from '../load/http-client.ts';

/**
 * The upper limit: a server that sends captured responses, one for each path, and does nothing else. Arguments: `node`
 * for `node:http` or `express` for Express with the routes of all operations; the file of the responses; the number of
 * characters at the end of a target that vary between requests and are not part of the path; the length of the chunks
 * in which bodies are streamed, 0 for whole bodies.
 */

const [, , kind, file, varying, chunk] = process.argv;
const responses = deserialize(readFileSync(file)) as ReadonlyMap<string, CapturedResponse>;
const varyingLength = Number(varying);
const chunkLength = Number(chunk);

function* chunksOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += chunkLength) yield body.subarray(at, at + chunkLength);
}

const listener = (request: IncomingMessage, response: ServerResponse): void => {
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
};
const app = express().disable('x-powered-by');
for (const operation of OPERATIONS) app.get(routePath(operation), listener);
const server = createServer(kind === 'express' ? app : listener);
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
