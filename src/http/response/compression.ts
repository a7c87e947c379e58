import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  constants,
  createGzip,
  createZstdCompress,
  gzip,
  gzipSync,
  zstdCompress,
  zstdCompressSync,
} from 'node:zlib';
import type { Request, Response } from 'express';
import Negotiator from 'negotiator';
import { CONTENT_CODINGS, type ContentCoding, MAX_ACCEPT_LENGTH } from '../../contract/headers.ts';
import { codingHeaders } from './etag.ts';
import type { HeaderList } from './problem.ts';
import { type Body, CONTENT_TYPE, lengthOf, send } from './send.ts';

/** Without a quality of its own, `identity` has the lowest of the header, and yields to every accepted coding. */
const PREFERRED = [...CONTENT_CODINGS, 'identity'];

/** Shorter bodies fit into a packet or two with the head. */
const MIN_BYTES = 1024;
/**
 * Longest body that the event loop compresses, above a usual page of 25: 0.1 ms, or 0.4 ms for text without repetitions.
 * With the thread pool, a page of 25 takes 2 times the processor time in zstd, and 1.2 times in gzip.
 */
const MAX_BYTES_AT_ONCE = 32_768;
/** Longest body that is compressed at all: 20 ms of a thread, or 130 ms for text without repetitions. */
const MAX_BYTES = 2 ** 23;
/**
 * Bytes of a worker in the thread pool, two pages of 100, besides one longer body. The pool has four threads, which file
 * operations use as well.
 */
const MAX_BYTES_IN_POOL = 2 ** 18;

/** About a chunk of a stream. */
const STREAM_BYTES = 65_536;
/**
 * Compressed streams of a worker, of at least four keys, in up to 1.2 MB each. They do not count as bytes in the thread pool:
 * those of slow clients would keep all other responses plain.
 */
const MAX_STREAMS = 8;

const GZIP = { level: constants.Z_BEST_SPEED };
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
const gzipInPool = promisify(gzip);
const zstdInPool = promisify(zstdCompress);

/**
 * Functions that compress a body at once, compress one of any length in the thread pool, and create a stream that
 * compresses there. At the fastest levels: the next ones take up to three times as long for bodies up to a fifth shorter.
 */
export const CODECS = {
  zstd: {
    compress: (body: Buffer) => zstdCompressSync(body, ZSTD),
    compressInPool: (body: Buffer) => zstdInPool(body, ZSTD),
    createCompressor: () => createZstdCompress({ ...ZSTD, chunkSize: STREAM_BYTES }),
  },
  gzip: {
    compress: (body: Buffer) => gzipSync(body, GZIP),
    compressInPool: (body: Buffer) => gzipInPool(body, GZIP),
    createCompressor: () => createGzip({ ...GZIP, chunkSize: STREAM_BYTES }),
  },
};

/**
 * Compresses responses for clients that accept it. No response waits for another one: it is plain when as many of its kind
 * as there may be are being compressed, and when its body is short or very long.
 */
export class Compression {
  readonly #isOn: boolean;
  /** Bytes in the thread pool: of bodies that share it, and of a longer one. */
  readonly #inPool = { shared: 0, alone: 0 };
  #streams = 0;

  constructor(isOn: boolean) {
    this.#isOn = isOn;
  }

  /**
   * Sends a complete response with status 200.
   *
   * @param headers without `ETag`
   * @param coding of `codingFor`
   * @param tag entity tag of the response without content coding
   */
  async send(
    response: Response,
    headers: HeaderList,
    coding: ContentCoding | undefined,
    tag: string | undefined,
    body: Body,
  ): Promise<void> {
    const { req: request } = response;
    const codedHeaders = [...headers, ...codingHeaders(coding, tag)];
    if (coding === undefined) {
      send(response, 200, codedHeaders, body);
      return;
    }
    if (request.method === 'HEAD') {
      // The length is unknown without the work.
      send(response, 200, [...codedHeaders, ...CONTENT_TYPE]);
      return;
    }
    const length = lengthOf(body);
    if (length <= MAX_BYTES_AT_ONCE) {
      send(response, 200, codedHeaders, [CODECS[coding].compress(joined(body))]);
      return;
    }
    const share = shareOf(length);
    this.#inPool[share] += length;
    const coded = await CODECS[coding].compressInPool(joined(body)).finally(() => {
      this.#inPool[share] -= length;
    });
    if (!request.socket.destroyed) send(response, 200, codedHeaders, [coded]);
  }

  /**
   * Returns the content coding of a response; undefined for none.
   * @param body undefined for a stream
   */
  codingFor(request: Request, body: Body | undefined): ContentCoding | undefined {
    const coding = this.codingOf(request);
    if (coding === undefined) return undefined;
    if (body === undefined) return this.#streams < MAX_STREAMS ? coding : undefined;
    const length = lengthOf(body);
    const inPool = this.#inPool[shareOf(length)];
    const isBusy = length > MAX_BYTES_AT_ONCE && inPool > 0 && inPool + length > MAX_BYTES_IN_POOL;
    return isBusy || length < MIN_BYTES || length > MAX_BYTES ? undefined : coding;
  }

  /** Returns the compressor of a stream. It counts until the response is closed. */
  compressorFor(response: Response, coding: ContentCoding): Transform {
    this.#streams++;
    response.on('close', () => {
      this.#streams--;
    });
    return CODECS[coding].createCompressor();
  }

  /**
   * Returns the content coding that `Accept-Encoding` prefers (RFC 9110, section 12.5.3), on a tie the first of
   * `CONTENT_CODINGS`; undefined for none. `*` is gzip. A header that forbids all is ignored.
   */
  codingOf(request: Request): ContentCoding | undefined {
    const { 'accept-encoding': accepted } = request.headers;
    if (!this.#isOn || accepted === undefined || accepted.length > MAX_ACCEPT_LENGTH) return undefined;
    // A client that accepts any coding by `*` may not know zstd.
    const codings = /(?:^|[\s,])zstd/i.test(accepted) ? PREFERRED : PREFERRED.slice(1);
    const [best] = new Negotiator(request).encodings(codings, { preferred: codings });
    return CONTENT_CODINGS.find((coding) => coding === best);
  }
}

function shareOf(length: number): 'shared' | 'alone' {
  return length > MAX_BYTES_IN_POOL ? 'alone' : 'shared';
}

function joined(body: Body): Buffer {
  return Buffer.concat(
    body.map((piece) => (typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)),
  );
}
