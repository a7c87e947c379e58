import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import type { Response } from 'express';
import { NDJSON_TYPE } from '../../contract/headers.ts';
import type { RequestContext } from '../request-context.ts';
import type { HeaderList } from './problem.ts';
import { writeHead } from './send.ts';

export const LINES_TYPE: HeaderList = ['Content-Type', NDJSON_TYPE];

/**
 * Sends a response in chunks, as fast as the client reads. Its length is not known in advance: the last chunk marks
 * its end (RFC 9112, section 7.1), so a stream that breaks off does not look complete.
 *
 * @param headers additional headers of this response
 * @param read returns the chunks. A chunk may reuse the buffer of the previous one if `isSent` returns true
 * @param compressor of its content coding; undefined for none
 * @returns fulfilled when the response is sent or its connection has closed
 * @throws the error of the chunks, after which the connection is closed
 */
export async function sendStream(
  response: Response,
  headers: HeaderList,
  read: (isSent: () => boolean) => Iterable<Buffer>,
  compressor: Transform | undefined,
): Promise<void> {
  writeHead(response, 200, [...headers, ...LINES_TYPE]);
  response.locals.context.isStream = true;
  try {
    // The compressor or the system has taken the bytes of all chunks so far.
    const isSent = () => (compressor ?? response).writableLength === 0;
    const source = inTurns(read(isSent), response);
    const count = countIn(response.locals.context);
    if (compressor === undefined) await pipeline(source, count, response);
    else await pipeline(source, compressor, count, response);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && EARLY_CLOSE.includes(String(error.code)))) throw error;
  }
}

/** Fulfilled when the latest stream that waits has its turn. */
let latestTurn: Promise<unknown> = Promise.resolve();

function nextTurn(): Promise<unknown> {
  return (latestTurn = latestTurn.then(() => turn()));
}

/**
 * Takes a chunk when the one before it is sent, and reports the progress. Each is read in a turn of the event loop of
 * its own, so that the requests of other clients wait for one chunk in a turn, however many streams are open.
 */
async function* inTurns(chunks: Iterable<Buffer>, response: Response): AsyncGenerator<Buffer> {
  const { connection } = response.locals.context;
  for (const chunk of chunks) {
    connection.noteUnsent(chunk.length);
    yield chunk;
    connection.noteUnsent();
    await nextTurn();
  }
}

/**
 * Takes the parts of a body in turns, as those of a stream.
 * @returns undefined when the connection has closed
 */
export async function takeInTurns<Piece>(
  parts: Iterable<readonly Piece[]>,
  { socket }: Response,
): Promise<Piece[] | undefined> {
  const taken: Piece[] = [];
  for (const pieces of parts) {
    taken.push(...pieces);
    await nextTurn();
    if (socket?.destroyed !== false) return undefined;
  }
  return taken;
}

/** Passes chunks on, and counts their bytes as those of the response. */
function countIn(context: RequestContext) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      context.bytes += chunk.length;
      yield chunk;
    }
  };
}

/** The codes with which `pipeline` rejects when the connection has closed: by itself, or by a stream that it ends. */
const EARLY_CLOSE = ['ERR_STREAM_PREMATURE_CLOSE', 'ABORT_ERR'];
