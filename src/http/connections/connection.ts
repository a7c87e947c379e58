import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Request, Response } from 'express';

/**
 * Requests of a connection that may be without a complete response. The response to the last one closes the
 * connection.
 */
const MAX_PIPELINED = 32;

/** The reasons for which a connection is not read: it has sent too many requests or a long body, or its response waits. */
type PauseReason = 'flood' | 'body' | 'unsent';

export interface ConnectionEvents {
  /** Starts the response to a request, at once or later. */
  readonly handle: (connection: Connection, request: Request, response: Response) => void;
  /** A response is sent, or its connection is closed. */
  readonly closed: (response: Response) => void;
  /** The first request arrives, or the last one has its response. */
  readonly changedIdle: (connection: Connection) => void;
  /** A request beyond the limit arrives. */
  readonly flooded: () => void;
  /** Bytes wait to be sent, or none any more. */
  readonly waits: (connection: Connection, bytes: number) => void;
}

/**
 * An open connection: the queue of its requests, the bytes that its client has not read, and the reasons for which it
 * is not read. No other module pauses, resumes or ends a socket.
 */
export class Connection {
  readonly socket: Socket;
  /** Whether no request is without a complete response. */
  isIdle = true;
  /** The response to the latest request, until the request has arrived and the response is sent. */
  latest: ServerResponse | undefined;
  /** The key of its latest request with a valid one. */
  keyId: string | undefined;
  /** Bytes of the current response that lie in memory once for all connections, as those of a file. */
  sharedBytes = 0;
  /** Other bytes of the current response that wait to be sent. */
  unsentBytes = 0;
  /** The latest progress of the response that waits. */
  unsentSince = 0;
  readonly #events: ConnectionEvents;
  readonly #pausedFor = new Set<PauseReason>();
  /** Starts of the responses that wait for the one before them. */
  readonly #waiting: (() => void)[] = [];
  #current: ServerResponse | undefined;

  constructor(socket: Socket, events: ConnectionEvents) {
    this.socket = socket;
    this.#events = events;
    // Node resumes a socket after each response, and drops a pause between `resume` and this event.
    socket.on('resume', () => {
      if (this.#pausedFor.size === 0) return;
      if (socket.isPaused()) socket.resume();
      else socket.pause();
    });
    // When a client sends no more, Node would end the connection after the written part of a stream.
    socket.prependListener('end', () => {
      const { headersSent = false, writableEnded = true, req } = this.#current ?? {};
      if (headersSent && !writableEnded && req?.complete === true) this.end();
    });
  }

  /**
   * Answers a request when the responses to all earlier ones are sent. A request beyond the limit is dropped, and the
   * connection ends with the response to the last one within it.
   */
  answer(request: Request, response: Response): void {
    if (this.#pausedFor.has('flood')) return;
    const pending = this.isIdle ? 0 : this.#waiting.length + 1;
    if (pending === MAX_PIPELINED) {
      this.pause('flood');
      this.#events.flooded();
      return;
    }
    if (pending === MAX_PIPELINED - 1) response.setHeader('Connection', 'close');
    this.latest = response;
    if (pending > 0) {
      this.#waiting.push(() => {
        this.#start(request, response);
      });
      return;
    }
    this.isIdle = false;
    this.#events.changedIdle(this);
    this.#start(request, response);
  }

  /** Sends the last bytes of the connection when all requests have their responses. Later requests get none. */
  endWith(bytes: () => Buffer): void {
    const send = () => this.socket.end(bytes());
    if (this.isIdle) send();
    else this.#waiting.push(send);
  }

  /** Closes the connection after the response to the latest request, unless its head is already sent. */
  closeAfterLatest(): void {
    if (this.latest?.headersSent === false) this.latest.setHeader('Connection', 'close');
  }

  /** Does not read the connection until `resume` is called for all reasons. */
  pause(reason: PauseReason): void {
    this.#pausedFor.add(reason);
    this.socket.pause();
  }

  resume(reason: PauseReason): void {
    if (this.#pausedFor.delete(reason) && this.#pausedFor.size === 0) this.socket.resume();
  }

  /** Notes the bytes that wait to be sent, with those that follow at once. */
  noteUnsent(following = 0): void {
    this.#events.waits(this, this.socket.destroyed ? 0 : this.socket.writableLength + following);
  }

  /** Closes the connection at once. It is reset while a response is incomplete, since unsent bytes are lost. */
  end(): void {
    const { socket, isIdle } = this;
    // Node cannot reset a socket while it is shut down, and would leave it open.
    if (isIdle || (socket.writableEnded && socket.writableLength === 0)) socket.destroy();
    else socket.resetAndDestroy();
  }

  /** Closes the connection when the response to the latest request is sent, or at once if it is. */
  endAfterLatest(): void {
    this.closeAfterLatest();
    if (this.latest?.writableEnded === false) this.pause('body');
    else this.socket.destroySoon();
  }

  /** Closes the connection after a time. Node has detached its listeners from the socket. */
  endWithin(milliseconds: number): void {
    this.socket.on('error', () => this.socket.destroy()).resume();
    setTimeout(() => this.socket.destroy(), milliseconds).unref();
  }

  #start(request: Request, response: Response): void {
    this.#current = response;
    response.on('prefinish', () => {
      if (this.socket.writableLength > 0) this.noteUnsent();
    });
    response.on('close', () => {
      this.#completed(response);
    });
    this.#events.handle(this, request, response);
  }

  #completed(response: Response): void {
    this.#current = undefined;
    this.sharedBytes = 0;
    this.noteUnsent();
    this.#events.closed(response);
    if (this.latest === response && response.req.complete) this.latest = undefined;
    // A response that closes the connection is the last one.
    if (!this.socket.writable) return;
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.isIdle = true;
      this.#events.changedIdle(this);
      return;
    }
    // Other connections have one response in a turn of the event loop.
    setImmediate(() => {
      if (this.socket.writable) next();
    });
  }
}
