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
const PARCEL_BYTES = 160 * 1024;
const MOST_IDLE_PARCELS = 8;

/** Where answers were put together that are with the system by now: the next ones can be as well. */
const idleParcels: Buffer[] = [];

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
  /** A body that has room for the head in front of it, while it is handed to Node. */
  #parcel: { readonly bytes: Buffer; readonly body: Buffer } | undefined;

  /**
   * Sends the body, after `writeHead`, and the head with it. To the system they are one piece if they are small, which
   * costs a third less than several; a long run of bytes goes as it is, since to copy it would cost more.
   *
   * @param length bytes of all pieces
   */
  endWith(body: Body, length: number): void {
    // What has to wait for others takes no more memory than it has bytes.
    const isWaiting = this.socket === null || this.writableLength > 0;
    if (body.length <= FEW_PIECES && (isWaiting || length > MOST_COPIED_BYTES)) this.#endInPieces(body);
    else if (isWaiting || HEAD_ROOM + length > PARCEL_BYTES)
      this.end(copyInto(Buffer.allocUnsafe(length), 0, body));
    else this.#endInParcel(body);
  }

  #endInPieces(body: Body): void {
    const last = body.length - 1;
    this.cork();
    for (let i = 0; i < last; i++) this.write(chunkOf(body[i]), 'latin1');
    this.end(chunkOf(body[last]), 'latin1');
  }

  #endInParcel(body: Body): void {
    const bytes = idleParcels.pop() ?? Buffer.allocUnsafeSlow(PARCEL_BYTES);
    this.#parcel = { bytes, body: copyInto(bytes, HEAD_ROOM, body) };
    this.end(this.#parcel.body);
    this.#parcel = undefined;
    if (this.writableLength === 0) giveBack(bytes);
    else {
      this.once('finish', () => {
        giveBack(bytes);
      });
    }
  }

  _storeHeader(statusLine: string, headers: unknown): void {
    node._storeHeader.call(this, statusLine + this.preparedHead, headers);
  }

  _send(data: unknown, encoding: unknown, callback: unknown, length: unknown): boolean {
    const head = this._header;
    const parcel = this.#parcel;
    // Else Node sends something of its own, as in place of a body that the status forbids.
    const isParcel = parcel !== undefined && data === parcel.body;
    if (isParcel && head !== null && !this._headerSent && head.length <= HEAD_ROOM) {
      const { bytes, body } = parcel;
      const start = HEAD_ROOM - head.length;
      bytes.write(head, start, 'latin1');
      this._headerSent = true;
      data = bytes.subarray(start, HEAD_ROOM + body.length);
    }
    return node._send.call(this, data, encoding, callback, length);
  }
}

/** Copies all of a body to `target[start …]`. Returns a view of it there. */
function copyInto(target: Buffer, start: number, body: Body): Buffer {
  let end = start;
  for (const piece of body) {
    end += typeof piece === 'string' ? target.write(piece, end, 'latin1') : copySlice(piece, target, end);
  }
  return target.subarray(start, end);
}

function giveBack(parcel: Buffer): void {
  if (idleParcels.length < MOST_IDLE_PARCELS) idleParcels.push(parcel);
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
