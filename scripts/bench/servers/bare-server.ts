import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import express from 'express';
import { OPERATIONS, routePath } from '../../../src/contract/operations.ts';
import { captureResponses, hasWindows, pathOfTarget, type Traffic } from '../load/traffic.ts';

/** The upper limit: a server that sends the responses of another server, and does nothing else. */

export interface BareSettings {
  /** Requests to the other server, each of which is sent once. */
  readonly traffic: Traffic;
  /** Whether Express with the routes of all operations receives the requests, in place of `node:http` alone. */
  readonly isExpress?: boolean;
  /** Length of the chunks in which bodies are streamed; they are sent whole without it. */
  readonly chunkBytes?: number;
}

/** Headers that Node adds to every response by itself. */
const ADDED_BY_NODE = ['date', 'connection', 'keep-alive', 'transfer-encoding'];

async function serve({ traffic, isExpress, chunkBytes }: BareSettings): Promise<void> {
  const captured = await captureResponses(traffic);
  const responses = new Map(
    captured.entries().map(([path, { status, headers, body }]) => {
      const own = [...headers].filter(([name]) => !ADDED_BY_NODE.includes(name)).flat();
      return [path, { status, body, headers: own }];
    }),
  );
  const hasWindow = hasWindows(traffic.targets);

  const listener = ({ url = '' }: IncomingMessage, response: ServerResponse): void => {
    const stored = responses.get(pathOfTarget(url, hasWindow));
    if (stored === undefined) {
      response.writeHead(404).end();
      return;
    }
    const { status, headers, body } = stored;
    response.writeHead(status, headers);
    if (chunkBytes !== undefined) pipeline(chunksOf(body, chunkBytes), response, () => undefined);
    else if (body.length > 0) response.end(body);
    else response.end();
  };
  const app = express().disable('x-powered-by');
  for (const operation of OPERATIONS) app.get(routePath(operation), listener);
  const server = createServer(isExpress ? app : listener);
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

function* chunksOf(body: Buffer, length: number): Generator<Buffer> {
  for (let at = 0; at < body.length; at += length) yield body.subarray(at, at + length);
}

process.once('message', (settings: BareSettings) => void serve(settings));
process.send?.('ready');
