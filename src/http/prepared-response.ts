import { ServerResponse } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { copySlice, viewOf } from '../store/slice.ts';
import type { Slice } from '../store/slice.ts';
import { NOTHING_PREPARED } from './prepared-head.ts';
import type { PreparedHead } from './prepared-head.ts';

/** Bytes one after the other, often of the store itself, and texts, which are ASCII. */
export type Body = readonly (Slice | string)[];

export function lengthOf(body: Body): number {
  let length = 0;
  for (const piece of body) length += typeof piece === 'string' ? piece.length : piece.end - piece.start;
  return length;
}

/** A head that is longer goes its own way. */
const HEAD_ROOM = 4096;
/** A body of more bytes, if its pieces are few, is not copied. */
const MOST_COPIED_BYTES = 32 * 1024;
const FEW_PIECES = 4;
/** Nearly all that is copied fits: pages of 100 with all that a record may be expected to have. */
const PARCEL_BYTES = 512 * 1024;

/** Where the last answer was put together, if it is with the system by now: the next one can be as well. */
let idleParcel: Buffer | undefined;

/** What Node does, beside what it documents, to send a response. */
interface NodeResponse {
  /** Makes the text of the head, `_header`, beginning with the status line that it is given. */
  _storeHeader(statusLine: string, headers: unknown): void;
  /** Hands bytes on to the connection, the head before the first of them. */
  _send(data: unknown, encoding: unknown, callback: unknown, length: unknown): boolean;
}

function isNodeResponse(prototype: object): prototype is NodeResponse {
  return (['_storeHeader', '_send'] as const).every(
    (name) => name in prototype && typeof Reflect.get(prototype, name) === 'function',
  );
}

const prototype: object = ServerResponse.prototype;
if (!isNodeResponse(prototype)) throw new Error(`Node ${process.version} sends responses in another way`);
const node = prototype;

/**
 * A response that has prepared headers beside those given to `writeHead`. They follow the status line; Node goes on
 * from there as always, and sees to all that depends on the connection. None of them may be one that Node looks for
 * itself: Content-Length, Transfer-Encoding, Connection, Date, Expect, Trailer.
 */
export class PreparedResponse<R extends IncomingMessage> extends ServerResponse<R> {
  preparedHead = NOTHING_PREPARED;
  declare private _header: string | null;
  declare private _headerSent: boolean;
  /** A body that has room for the head in front of it. */
  #parcel: Buffer | undefined;
  #parcelEnd = 0;

  /**
   * Sends the body, after `writeHead`, and the head with it. To the system they are one piece if they are small, which
   * costs half of what several do; a long run of bytes goes as it is, since to copy it would cost more.
   *
   * @param length bytes of all pieces
   */
  endWith(body: Body, length: number): void {
    if (length > MOST_COPIED_BYTES && body.length <= FEW_PIECES) this.#endInPieces(body);
    else this.#endInOne(body, length);
  }

  #endInPieces(body: Body): void {
    const last = body.length - 1;
    this.cork();
    for (let i = 0; i < last; i++) this.write(chunkOf(body[i]), 'latin1');
    this.end(chunkOf(body[last]), 'latin1');
  }

  #endInOne(body: Body, length: number): void {
    const size = HEAD_ROOM + length;
    const parcel =
      size > PARCEL_BYTES ? Buffer.allocUnsafe(size) : (idleParcel ?? Buffer.allocUnsafeSlow(PARCEL_BYTES));
    idleParcel = undefined;
    let end = HEAD_ROOM;
    for (const piece of body) {
      end += typeof piece === 'string' ? parcel.write(piece, end, 'latin1') : copySlice(piece, parcel, end);
    }
    this.#parcel = parcel;
    this.#parcelEnd = end;
    this.end(parcel.subarray(HEAD_ROOM, end));
    this.#parcel = undefined;
    // Else it is with a connection that is slow, or before others in line.
    if (this.writableLength === 0 && parcel.length === PARCEL_BYTES) idleParcel = parcel;
  }

  _storeHeader(statusLine: string, headers: unknown): void {
    node._storeHeader.call(this, statusLine + this.preparedHead, headers);
  }

  _send(data: unknown, encoding: unknown, callback: unknown, length: unknown): boolean {
    const head = this._header;
    if (this.#parcel !== undefined && head !== null && !this._headerSent && head.length <= HEAD_ROOM) {
      const start = HEAD_ROOM - head.length;
      this.#parcel.write(head, start, 'latin1');
      this._headerSent = true;
      return node._send.call(this, this.#parcel.subarray(start, this.#parcelEnd), encoding, callback, length);
    }
    return node._send.call(this, data, encoding, callback, length);
  }
}

function chunkOf(piece: Slice | string): Buffer | string {
  return typeof piece === 'string' ? piece : viewOf(piece);
}

declare module 'express-serve-static-core' {
  interface Response {
    preparedHead: PreparedHead;
    endWith(body: Body, length: number): void;
  }
}
