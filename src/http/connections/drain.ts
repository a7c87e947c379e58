import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import {
  type AddressInfo,
  createServer as createNetServer,
  type ListenOptions,
  type Server as NetServer,
  type Socket,
} from 'node:net';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { monotonicNow } from '../../clock.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';

/** Servers accept connections until no new one has arrived for this long. */
const QUIET_MS = 500;
/** Share of the grace after which servers stop accepting. In this time, load balancers see that the process is not ready. */
const ACCEPTING_SHARE = 0.5;
/** While reads are paused, the backlog is empty after this long without a new connection. */
const PAUSED_QUIET_MS = 20;
const PAUSED_MAX_MS = 200;
const POLL_MS = 10;
/** Connections that the system completes before the server accepts them. The system may have a lower limit. */
const BACKLOG = 4096;
/** Sockets that listen on a port that can be shared. */
const SOCKETS = 32;
/** Part of the grace that is reserved for the exit of the process. */
const RESERVED_SHARE = 0.1;
const RESERVED_MAX_MS = 250;

/** Two times of the monotonic clock in milliseconds, shared by servers that drain together. */
export type DrainTimes = Float64Array<SharedArrayBuffer>;

/** Time of the latest connection to any of the servers. */
const LATEST_CONNECTION = 0;
/** Start of the grace; 0 before. */
const GRACE_START = 1;

export function newDrainTimes(): DrainTimes {
  return new Float64Array(new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT));
}

/** Starts the grace in all threads at once. Responses to later requests close their connections. */
export function beginGrace(times: DrainTimes): void {
  times[GRACE_START] = monotonicNow();
}

/**
 * The port of an HTTP server, which a separate server binds: `close` of an HTTP server would also destroy idle
 * connections and stop the timeouts of slow requests. It may have further sockets on the same port: in a turn of the
 * event loop, each accepts one connection, however many requests other connections send.
 */
export class Listener {
  readonly #server: Server;
  readonly #ports: NetServer[] = [];

  constructor(server: Server) {
    this.#server = server;
  }

  get isListening(): boolean {
    return this.#ports.some(({ listening }) => listening);
  }

  /** Binds the port and returns its number. Rejects with the system's error. */
  async listen(options: ListenOptions): Promise<number> {
    const port = await this.#bind(createNetServer(), options);
    this.#server.listen(this.#ports[0], BACKLOG);
    await once(this.#server, 'listening');
    const inject = (socket: Socket) => this.#server.emit('connection', socket);
    for (let i = 1; options.reusePort === true && i < SOCKETS; i++)
      await this.#bind(createNetServer({ allowHalfOpen: true, noDelay: true }, inject), { ...options, port });
    return port;
  }

  close(): void {
    for (const port of this.#ports) port.close();
  }

  async #bind(port: NetServer, options: ListenOptions): Promise<number> {
    this.#ports.push(port);
    port.listen({ ...options, backlog: BACKLOG });
    await once(port, 'listening');
    return (port.address() as AddressInfo).port;
  }
}

const ARRIVALS = ['request', 'checkContinue', 'checkExpectation'] as const;

/**
 * Prepares to shut a server down without resetting client connections.
 *
 * 1. Every response that has not begun gets `Connection: close`. The server still accepts connections.
 * 2. When no new connection has arrived for a while, or half of the grace is over, the listening socket closes.
 * 3. Each connection ends with its next response. An idle connection stays open, since its client may send a request
 *    at any time. The drain does not wait for connections that have never received a byte.
 * 4. Shortly before the grace ends, the remaining connections are destroyed.
 *
 * Servers in several threads that share a port drain together, because the client of one may connect to another.
 * They share `DrainTimes`, and continue after each step when all of them have reached it.
 *
 * @param quietMs the time without a new connection after which none is expected
 * @returns the function that drains the server. It yields after each step
 */
export function prepareDrain(
  server: Server,
  listener: Listener,
  times: DrainTimes,
  connections: Connections,
  quietMs = QUIET_MS,
) {
  server.on('connection', () => {
    times[LATEST_CONNECTION] = monotonicNow();
  });
  for (const event of ARRIVALS) {
    server.prependListener(event, (_request: IncomingMessage, response: ServerResponse) => {
      if (times[GRACE_START] !== 0 && !response.headersSent) response.setHeader('Connection', 'close');
    });
  }

  /**
   * Drains the server once the grace has started. Ends when all connections have ended, before the grace is over.
   * @param isUrgent whether to skip the wait for requests on new and idle connections
   */
  return async function* (graceSeconds: number, isUrgent: boolean) {
    const graceMs = graceSeconds * 1000;
    const start = times[GRACE_START];
    const end = start + graceMs - Math.min(graceMs * RESERVED_SHARE, RESERVED_MAX_MS);
    // Among pipelined requests from before the grace, the last response ends the connection.
    for (const connection of connections.open.values()) connection.closeAfterLatest();

    if (!isUrgent) {
      await quiet(times, quietMs, start, start + graceMs * ACCEPTING_SHARE);
      // When the listening socket closes, the system resets connections in its backlog. While reads are paused, clients
      // that reconnect after each response get none, and open no connection: the backlog empties.
      connections.pause();
    }
    yield;
    if (!isUrgent) await emptyBacklog(times, end);
    yield;
    listener.close();
    yield;
    connections.resume();
    if (isUrgent) server.closeIdleConnections();

    await connectionsEnd(connections, end, isUrgent ? 0 : quietMs);
    for (const connection of connections.open.values()) connection.end();
    server.close();
  };
}

/** Waits for some milliseconds without a new connection, from `since` at the earliest, or until `end`. */
async function quiet(times: DrainTimes, milliseconds: number, since: number, end: number): Promise<void> {
  for (;;) {
    const now = monotonicNow();
    const left = Math.min(Math.max(times[LATEST_CONNECTION], since) + milliseconds, end) - now;
    if (left <= 0) return;
    await delay(left);
  }
}

/** Waits for a turn of the event loop without a new connection. */
async function emptyBacklog(times: DrainTimes, end: number): Promise<void> {
  const start = monotonicNow();
  const last = Math.min(end, start + PAUSED_MAX_MS);
  await quiet(times, PAUSED_QUIET_MS, start, last);
  let before;
  do {
    before = times[LATEST_CONNECTION];
    await turn();
  } while (times[LATEST_CONNECTION] !== before && monotonicNow() < last);
}

/** Waits until active connections are closed and silent ones are `silentMs` old, or until `end`. */
async function connectionsEnd({ open }: Connections, end: number, silentMs: number): Promise<void> {
  const isAwaited = ({ socket, acceptedAt }: Connection) =>
    socket.bytesRead > 0 || monotonicNow() < acceptedAt + silentMs;
  while (open.values().some(isAwaited)) {
    const left = end - monotonicNow();
    if (left <= 0) return;
    await delay(Math.min(left, POLL_MS));
  }
}
