import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Request, Response } from 'express';
import { compile } from 'proxy-addr';
import type { EndReason, RequestMetrics } from '../request-metrics.ts';
import { type ConnectionCounts, networkOf, networkSlot } from './connection-counts.ts';
import { SlowLane } from './slow-lane.ts';

/**
 * Requests of a connection that may be without a complete response. The response to the last one closes the
 * connection.
 */
const MAX_PIPELINED = 32;
/** When too many bytes are unsent, the slowest connections end until this share of the limit is left. */
const UNSENT_SHARE = 0.9;
/** Interval of the checks for responses that wait to be sent. */
const UNSENT_CHECK_MS = 1000;
const MEGABYTE = 2 ** 20;

/** Express's `trust proxy`. */
export type TrustProxy = boolean | number | readonly string[];

export interface ConnectionConfig {
  readonly trustProxy: TrustProxy;
  /** Connections of one network, over all workers. */
  readonly maxConnectionsPerAddress: number;
  /** Time without progress after which a connection ends. */
  readonly writeTimeoutSeconds: number;
  /** Megabytes of responses that may wait to be sent, over all workers. */
  readonly maxUnsentMb: number;
  /** Number of workers. */
  readonly threads: number;
}

/** Returns the share of one worker in the limit of unsent bytes. */
export function maxUnsentBytes({
  maxUnsentMb,
  threads,
}: Pick<ConnectionConfig, 'maxUnsentMb' | 'threads'>): number {
  return (maxUnsentMb * MEGABYTE) / threads;
}

/** Answers the requests of connections. */
interface RequestHandler {
  /** Creates the context of a request, and starts its response at once or later. */
  readonly handle: (request: Request, response: Response) => void;
  /** Called when a response is sent, or its connection is closed. */
  readonly closed: (response: Response) => void;
}

/** An open connection. */
interface Connection {
  readonly socket: Socket;
  /** Undefined for a trusted proxy, whose connections carry the requests of many clients. */
  readonly network: string | undefined;
  /** The key of its latest request with a valid one. */
  keyId: string | undefined;
  /** Number of requests without a complete response. */
  pending: number;
  /** The response to the latest of them. Undefined without any: its request has a key. */
  latest: ServerResponse | undefined;
  /** The requests that wait for the response before theirs. */
  readonly waiting: (readonly [Request, Response])[];
  /** Called when no request is pending. */
  whenIdle: (() => void) | undefined;
  /** Body bytes of the current response, and its start; of a stream those that wait, and its latest progress. */
  unsentBytes: number;
  unsentSince: number;
  /** Whether reads are paused until the current response is sent. */
  isPaused: boolean;
}

/**
 * Bounds the cost of the connections of a server.
 *
 * - Beyond the limit of an address, a new connection ends at once. Beyond the limit in all, the oldest idle connection
 *   that had no valid key ends in its place, so that silent connections do not lock out valid keys.
 * - The requests of a connection are answered one after the other: the next one when the response before it is sent.
 * - A connection with too many pipelined requests is a flood. The first ones are answered, then the connection ends.
 *   Its network becomes suspect: connections from there move to the slow lane, except those that had another valid key.
 * - A connection without progress ends. So do the slowest ones when too many bytes are unsent.
 */
export class Connections {
  readonly #config: ConnectionConfig;
  readonly #counts: ConnectionCounts;
  readonly #metrics: RequestMetrics;
  readonly #handler: RequestHandler;
  readonly #isTrustedPeer: (address: string) => boolean;
  /** The share of this worker. */
  readonly #maxUnsentBytes: number;
  readonly #open = new Map<Socket, Connection>();
  readonly #slowLane = new SlowLane();

  constructor(
    server: Server,
    config: ConnectionConfig,
    counts: ConnectionCounts,
    metrics: RequestMetrics,
    handler: RequestHandler,
  ) {
    this.#config = config;
    this.#counts = counts;
    this.#metrics = metrics;
    this.#handler = handler;
    this.#isTrustedPeer = peerTrust(config.trustProxy);
    this.#maxUnsentBytes = maxUnsentBytes(config);
    server.setTimeout(config.writeTimeoutSeconds * 1000, (socket) => {
      if (this.#open.get(socket)?.pending === 0) socket.destroy();
      else this.#end(socket, 'no-progress');
    });
    setInterval(() => {
      this.#pauseUnsent();
    }, UNSENT_CHECK_MS).unref();
    server.on('connection', (socket: Socket) => {
      this.#accept(socket);
    });
  }

  /**
   * Answers a request when the responses to all earlier ones of its connection are sent. Drops a request beyond the
   * limit of pipelined ones.
   */
  answer(request: Request, response: Response): void {
    const { socket } = request;
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    const pending = ++connection.pending;
    if (pending > MAX_PIPELINED) {
      if (pending === MAX_PIPELINED + 1) this.#flooded(connection);
      return;
    }
    if (pending === MAX_PIPELINED) response.setHeader('Connection', 'close');
    connection.latest = response;
    if (pending === 1) this.#start(connection, request, response);
    else connection.waiting.push([request, response]);
  }

  /** Number of open connections. */
  get size(): number {
    return this.#open.size;
  }

  /** Returns for each connection with requests in progress the response to the latest one. */
  latestResponses(): Iterable<ServerResponse> {
    return this.#open
      .values()
      .map(({ latest }) => latest)
      .filter((latest) => latest !== undefined);
  }

  /** Calls an action when all requests of a connection have their responses; at once without any. */
  whenIdle(socket: Socket, action: () => void): void {
    const connection = this.#open.get(socket);
    if (connection === undefined || connection.pending === 0) action();
    else connection.whenIdle = action;
  }

  /**
   * Moves the connections of a peer's network to the slow lane, for a time, except those that had another valid key
   * than the connection of the peer.
   */
  suspect(peer: Socket): void {
    const { network, keyId } = this.#open.get(peer) ?? {};
    if (network === undefined) return;
    this.#slowLane.suspect(network);
    for (const other of this.#open.values())
      if (other.network === network && (other.keyId === undefined || other.keyId === keyId))
        this.#slowLane.add(other.socket);
  }

  /** Ends the connections in the slow lane, and those that would enter it. A drain would read them all at once. */
  endSlowLane(): void {
    this.#slowLane.end();
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const network = this.#isTrustedPeer(address) ? undefined : networkOf(address);
    const slot = network === undefined ? undefined : networkSlot(network);
    this.#counts.add(slot);
    socket.on('close', () => {
      this.#counts.remove(slot);
      this.#slowLane.remove(socket);
      const connection = this.#open.get(socket);
      if (connection !== undefined) this.#sent(connection);
      this.#open.delete(socket);
    });
    if (slot !== undefined && this.#counts.inSlot(slot) > this.#config.maxConnectionsPerAddress) {
      this.#end(socket, 'limit-of-address');
      return;
    }
    if (this.#counts.all > this.#counts.limit) {
      const idle = this.#oldestIdle();
      this.#end(idle ?? socket, 'limit');
      if (idle === undefined) return;
    }
    this.#open.set(socket, {
      socket,
      network,
      keyId: undefined,
      pending: 0,
      latest: undefined,
      waiting: [],
      whenIdle: undefined,
      unsentBytes: 0,
      unsentSince: 0,
      isPaused: false,
    });
    if (network === undefined || !this.#slowLane.isSuspect(network)) return;
    // Node starts to read a new socket after this event, which would undo an earlier pause.
    process.nextTick(() => {
      this.#slowLane.add(socket);
    });
  }

  /** Returns the oldest socket without a request in progress that had no valid key. */
  #oldestIdle(): Socket | undefined {
    return this.#open
      .values()
      .find(({ socket, pending, keyId }) => pending === 0 && keyId === undefined && !socket.destroyed)
      ?.socket;
  }

  #start(connection: Connection, request: Request, response: Response): void {
    response.on('close', () => {
      this.#completed(connection, response);
    });
    this.#handler.handle(request, response);
    const { context } = response.locals;
    this.#waits(connection, context.bytes, context.startedAt);
    if (!context.isStream) return;
    context.noteProgress = (unsentBytes) => {
      if (this.#open.get(connection.socket) !== connection) return;
      this.#sent(connection);
      this.#waits(connection, unsentBytes, performance.now());
    };
  }

  #completed(connection: Connection, response: Response): void {
    this.#handler.closed(response);
    this.#sent(connection);
    if (--connection.pending === 0) connection.latest = undefined;
    const { caller, retryReason } = response.locals.context;
    if (caller !== undefined) connection.keyId = caller.keyId;
    if (retryReason === 'refusals') this.suspect(connection.socket);
    // A response that closes the connection is the last one.
    if (!connection.socket.writable) return;
    const next = connection.waiting.shift();
    if (next === undefined) {
      if (connection.pending === 0) connection.whenIdle?.();
      return;
    }
    // A flood ends at once, because Node reads on after each response, although the socket is paused.
    if (connection.pending > MAX_PIPELINED) {
      this.#start(connection, ...next);
      return;
    }
    // Other connections have one response in a turn of the event loop.
    setImmediate(() => {
      if (connection.socket.writable) this.#start(connection, ...next);
    });
  }

  /**
   * Stops reading from clients that have not read a response for some time. Received bytes would refresh the timeout of
   * the connection.
   */
  #pauseUnsent(): void {
    const since = performance.now() - UNSENT_CHECK_MS;
    for (const connection of this.#open.values()) {
      if (connection.pending === 0 || connection.unsentSince > since || connection.isPaused) continue;
      connection.isPaused = true;
      connection.socket.pause();
    }
  }

  /** Counts bytes of the current response that wait since a time. */
  #waits(connection: Connection, unsentBytes: number, since: number): void {
    connection.unsentBytes = unsentBytes;
    connection.unsentSince = since;
    this.#metrics.addUnsent(unsentBytes);
    if (this.#metrics.unsentBytes > this.#maxUnsentBytes) this.#endSlowest();
  }

  /** Stops counting the bytes of the current response, and reads on. */
  #sent(connection: Connection): void {
    this.#metrics.addUnsent(-connection.unsentBytes);
    connection.unsentBytes = 0;
    // A flooded connection is not read any more.
    if (!connection.isPaused || connection.pending > MAX_PIPELINED) return;
    connection.isPaused = false;
    connection.socket.resume();
  }

  #flooded(connection: Connection): void {
    const { socket } = connection;
    this.#metrics.countEndedConnection('pipelining');
    this.suspect(socket);
    // The requests that are parsed get their responses, then the connection closes.
    this.#slowLane.remove(socket);
    socket.pause();
  }

  #endSlowest(): void {
    const slowest = [...this.#open.values()]
      .filter(({ unsentBytes }) => unsentBytes > 0)
      .sort((a, b) => a.unsentSince - b.unsentSince);
    let unsent = this.#metrics.unsentBytes;
    for (const { socket, unsentBytes } of slowest) {
      if (unsent <= this.#maxUnsentBytes * UNSENT_SHARE) return;
      unsent -= unsentBytes;
      this.#end(socket, 'unsent-bytes');
    }
  }

  #end(socket: Socket, reason: EndReason): void {
    this.#metrics.countEndedConnection(reason);
    socket.destroy();
  }
}

/** Returns a function that decides whether a peer is a trusted proxy. */
function peerTrust(trustProxy: TrustProxy): (address: string) => boolean {
  if (typeof trustProxy !== 'object') return () => trustProxy !== false && trustProxy !== 0;
  const isTrusted = compile([...trustProxy]);
  return (address) => isTrusted(address, 0);
}
