import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type ListenOptions, type Socket } from 'node:net';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { monotonicNow } from '../clock.ts';

/** After so long without a new connection nobody is expected to come any more. */
const QUIET_MS = 500;
/** The part of the grace in which connections are taken: balancers need a moment to see that readiness is down. */
const ACCEPTING_SHARE = 0.5;
/** While nothing is read, so long without a new connection means that all who may come are waiting for an answer. */
const HOLD_QUIET_MS = 20;
const HOLD_MOST_MS = 200;
const TICK_MS = 10;
/** The part of the grace, and the milliseconds at most, that are kept for the end of the process. */
const RESERVED_SHARE = 0.1;
const RESERVED_MOST_MS = 250;

/** What servers that drain together share: two moments of the monotonic clock, in milliseconds. */
export type DrainMoments = Float64Array<SharedArrayBuffer>;

/** When the latest connection was made, to any of the servers. */
const LATEST_CONNECTION = 0;
/** When the grace began; 0 before. */
const GRACE_BEGAN = 1;

export function newDrainMoments(): DrainMoments {
  return new Float64Array(new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT));
}

/** Begins the grace, in all threads at once: no response to a request that comes after this keeps its connection. */
export function beginGrace(moments: DrainMoments): void {
  moments[GRACE_BEGAN] = monotonicNow();
}

/**
 * The port of an HTTP server. It closes without the server: `close` of an HTTP server would also destroy idle connections and stop
 * the watch on slow requests. So another server takes the port, and the HTTP server listens on the handle of that one.
 */
export class Listener {
  readonly #port = createNetServer();
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  get isListening(): boolean {
    return this.#port.listening;
  }

  /** Returns the port. Rejects with the system's error when it cannot be had. */
  listen(options: ListenOptions): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#port.once('error', reject);
    this.#port.listen(options, () => {
      this.#port.off('error', reject);
      this.#server.listen(this.#port, () => {
        resolve((this.#port.address() as AddressInfo).port);
      });
    });
    return promise;
  }

  /** Takes no more connections. Those that are there stay as they are. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#port.close(() => {
        resolve();
      });
    });
  }
}

/** The events by which a request arrives. */
const ARRIVALS = ['request', 'checkContinue', 'checkExpectation'] as const;

/**
 * Ends a server without a reset for its clients. It watches the server from the start on, because Node does not tell
 * which connections there are.
 *
 * 1. Every response that has not begun says `Connection: close`; connections are taken as before.
 * 2. When nobody has connected for a while, or half of the grace is over, the listening socket is closed.
 * 3. Connections end by their next response. An idle one may be used by its client at any time, so it stays open for
 *    that; one that never asked for anything is not waited for.
 * 4. Shortly before the grace is over, what is left is closed.
 *
 * Servers of several threads that share a port drain together, since whoever is answered by one of them may connect to
 * another: they share the moments that steps begin by, and wait for each other at each step.
 */
export class Drain {
  readonly #server: Server;
  readonly #listener: Listener;
  readonly #moments: DrainMoments;
  readonly #quietMs: number;
  /** The connections, each with the time at which it was made. */
  readonly #madeAt = new Map<Socket, number>();
  /** Of each connection the response to the last request that came. */
  readonly #lastResponse = new Map<Socket, ServerResponse>();
  #isHolding = false;

  /** @param quietMs the time without a new connection after which none is expected */
  constructor(server: Server, listener: Listener, moments: DrainMoments, quietMs = QUIET_MS) {
    this.#server = server;
    this.#listener = listener;
    this.#moments = moments;
    this.#quietMs = quietMs;
    server.on('connection', (socket: Socket) => {
      this.#connected(socket);
    });
    for (const event of ARRIVALS) {
      server.prependListener(event, ({ socket }: IncomingMessage, response: ServerResponse) => {
        this.#lastResponse.set(socket, response);
        if (moments[GRACE_BEGAN] !== 0) endConnection(response);
      });
    }
  }

  /**
   * Fulfilled when every connection has ended, before the grace is over. To be called when that has begun.
   * @param hurry not to wait for who may still come, nor for connections that are idle
   * @param together is called at each step; fulfilled when all that drain together have come as far
   */
  async run(graceSeconds: number, hurry: boolean, together = () => Promise.resolve()): Promise<void> {
    const graceMs = graceSeconds * 1000;
    const start = this.#moments[GRACE_BEGAN];
    const end = start + graceMs - Math.min(graceMs * RESERVED_SHARE, RESERVED_MOST_MS);
    // Of requests that came at once before the grace, one behind the other, the last response ends the connection.
    this.#lastResponse.values().forEach(endConnection);
    this.#lastResponse.clear();

    if (!hurry) {
      await this.#quiet(this.#quietMs, start, start + graceMs * ACCEPTING_SHARE);
      this.#hold();
    }
    await together();
    if (!hurry) await this.#emptyBacklog(end);
    await together();
    const closed = this.#listener.close();
    await together();
    this.#release();
    if (hurry) this.#server.closeIdleConnections();

    await this.#connectionsEnd(end, hurry ? 0 : this.#quietMs);
    for (const socket of this.#madeAt.keys()) socket.destroy();
    await closed;
    this.#server.close();
  }

  #connected(socket: Socket): void {
    const now = monotonicNow();
    this.#moments[LATEST_CONNECTION] = now;
    this.#madeAt.set(socket, now);
    socket.on('close', () => {
      this.#madeAt.delete(socket);
      this.#lastResponse.delete(socket);
    });
    // A new socket starts to read after this turn: a pause before that would be undone.
    if (this.#isHolding) process.nextTick(() => socket.pause());
  }

  /** Waits until nobody has connected for a while, counted from `since` on, or until `end`. */
  async #quiet(milliseconds: number, since: number, end: number): Promise<void> {
    for (;;) {
      const now = monotonicNow();
      const left = Math.min(Math.max(this.#moments[LATEST_CONNECTION], since) + milliseconds, end) - now;
      if (left <= 0) return;
      await delay(left);
    }
  }

  /**
   * The system resets connections that it has made and that nobody has accepted when the listening socket is closed.
   * So nothing is read for a moment: clients who come again after each answer then wait for one, on connections that
   * are accepted.
   */
  #hold(): void {
    this.#isHolding = true;
    for (const socket of this.#madeAt.keys()) socket.pause();
  }

  /** Waits for a turn of the event loop in which nobody came. */
  async #emptyBacklog(end: number): Promise<void> {
    const start = monotonicNow();
    const most = Math.min(end, start + HOLD_MOST_MS);
    await this.#quiet(HOLD_QUIET_MS, start, most);
    let before;
    do {
      before = this.#moments[LATEST_CONNECTION];
      await turn();
    } while (this.#moments[LATEST_CONNECTION] !== before && monotonicNow() < most);
  }

  #release(): void {
    this.#isHolding = false;
    for (const socket of this.#madeAt.keys()) socket.resume();
  }

  /** Waits until all connections that are left are silent, each for a while, or until `end`. */
  async #connectionsEnd(end: number, silentMs: number): Promise<void> {
    const isWaitedFor = ([socket, madeAt]: [Socket, number]) =>
      socket.bytesRead > 0 || monotonicNow() < madeAt + silentMs;
    while (this.#madeAt.entries().some(isWaitedFor)) {
      const left = end - monotonicNow();
      if (left <= 0) return;
      await delay(Math.min(left, TICK_MS));
    }
  }
}

/** Ends the connection with a response, unless its head is sent already. */
function endConnection(response: ServerResponse): void {
  if (!response.headersSent) response.setHeader('Connection', 'close');
}
