import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { compile } from 'proxy-addr';
import { monotonicNow } from '../../clock.ts';
import type { Config } from '../../config.ts';
import { CONNECTIONS, type OpenCounts, UNSENT_KB } from '../../counts/open-counts.ts';
import type { EndReason, RequestMetrics } from '../../counts/request-metrics.ts';
import { Connection, type ConnectionEvents } from './connection.ts';
import { networkOf, type Networks } from '../../counts/networks.ts';

const KILOBYTE = 2 ** 10;
/** The part of the limit of unsent bytes that one key or one network may hold. */
const HOLDER_SHARE = 0.25;
/** At a limit of unsent bytes, the slowest connections end until this share of it is left. */
const UNSENT_SHARE = 0.9;
/** Time without progress after which a connection with unsent bytes is not read, and the interval of the checks. */
const UNSENT_CHECK_MS = 1000;
/** Time between the first reads of two connections of suspect networks. Node parses one read in at most some 20 ms. */
const TURN_MS = 50;
/** Longest wait for the first read. Before it, the close of such a connection is not noticed. */
export const MAX_WAIT_MS = 60_000;

type ConnectionConfig = Pick<
  Config,
  'trustProxy' | 'maxConnectionsPerAddress' | 'writeTimeoutSeconds' | 'maxUnsentMb' | 'threads'
>;

export interface ConnectionDependencies {
  readonly config: ConnectionConfig;
  readonly networks: Networks;
  readonly counts: OpenCounts;
  readonly metrics: RequestMetrics;
}

export type RequestHandler = Pick<ConnectionEvents, 'handle' | 'closed'>;

/**
 * The open connections of a server, and their limits.
 *
 * - Beyond the limit of a network, a new connection ends at once. Beyond the limit in all, the connection without a
 *   valid key that is idle for the longest time ends in its place, so that silent connections do not lock out keys.
 * - A connection with too many pipelined requests is a flood. The connections of its network end, except those that had
 *   another valid key, and the network becomes suspect: its new connections are first read one after the other.
 * - A connection without progress ends. Bytes that it sends are no progress of its response.
 * - When too many bytes of a key, of a network or in all wait to be sent, the slowest connections of them end.
 */
export class Connections {
  readonly #dependencies: ConnectionDependencies;
  readonly #events: ConnectionEvents;
  /** Decides whether a peer is a trusted proxy; the distance of a peer is 0. */
  readonly #isTrustedPeer: (address: string, distance: number) => boolean;
  readonly #maxUnsentBytes: number;
  readonly #open = new Map<Socket, Connection>();
  /** Those without a request in progress that had no valid key, the longest idle first. */
  readonly #idle = new Set<Connection>();
  /** Those whose response waits to be sent, the slowest first. */
  readonly #slow = new Set<Connection>();
  /** The time at which the latest connection of a suspect network has its turn. */
  #turnAt = 0;
  #isPaused = false;

  constructor(server: Server, dependencies: ConnectionDependencies, handler: RequestHandler) {
    this.#dependencies = dependencies;
    this.#events = {
      ...handler,
      changedIdle: this.#noteIdle,
      flooded: this.#endFlood,
      waits: this.#noteUnsent,
    };
    const { trustProxy, writeTimeoutSeconds, maxUnsentMb, threads } = dependencies.config;
    this.#isTrustedPeer =
      typeof trustProxy === 'object'
        ? compile([...trustProxy])
        : () => trustProxy !== false && trustProxy !== 0;
    this.#maxUnsentBytes = (maxUnsentMb * KILOBYTE ** 2) / threads;
    server.setTimeout(writeTimeoutSeconds * 1000, (socket) => {
      const connection = this.#open.get(socket);
      if (connection !== undefined) this.#end(connection, connection.isIdle ? undefined : 'no-progress');
    });
    server.on('connection', (socket: Socket) => {
      this.#accept(socket);
    });
    // Received bytes would refresh the timeout of the connection.
    setInterval(() => {
      const since = monotonicNow() - UNSENT_CHECK_MS;
      for (const connection of this.#slow) if (connection.unsentSince < since) connection.pause('unsent');
    }, UNSENT_CHECK_MS).unref();
  }

  get open(): ReadonlyMap<Socket, Connection> {
    return this.#open;
  }

  /** Reads no connection, nor a new one, until `resume`. */
  pause(): void {
    this.#isPaused = true;
    for (const connection of this.#open.values()) connection.pause('drain');
  }

  resume(): void {
    this.#isPaused = false;
    for (const connection of this.#open.values()) connection.resume('drain');
  }

  /** Makes the network of a connection suspect for a time. */
  suspect({ network }: Connection): void {
    if (network !== undefined) this.#dependencies.networks.suspect(network);
  }

  #accept(socket: Socket): void {
    const { config, networks, counts } = this.#dependencies;
    const { remoteAddress = '' } = socket;
    const counted = this.#isTrustedPeer(remoteAddress, 0)
      ? undefined
      : networks.connect(networkOf(remoteAddress));
    const network = counted?.slot;
    const connection = new Connection(socket, network, this.#events);
    this.#open.set(socket, connection);
    this.#idle.add(connection);
    counts.change(CONNECTIONS, 1);
    socket.on('close', () => {
      this.#open.delete(socket);
      this.#idle.delete(connection);
      counts.change(CONNECTIONS, -1);
      if (network !== undefined) networks.disconnect(network);
    });
    if (counted !== undefined && counted.connections > config.maxConnectionsPerAddress)
      this.#end(connection, 'limit-of-address');
    else if (counts.inAll(CONNECTIONS) > counts.limit) {
      const [longest] = this.#idle;
      this.#idle.delete(longest);
      this.#end(longest, 'limit');
    }
    if (this.#isPaused) connection.pause('drain');
    if (network !== undefined && networks.isSuspect(network)) this.#awaitTurn(connection);
  }

  #awaitTurn(connection: Connection): void {
    const now = monotonicNow();
    const turnAt = Math.max(this.#turnAt, now) + TURN_MS;
    if (turnAt > now + MAX_WAIT_MS) {
      this.#end(connection, 'suspect');
      return;
    }
    this.#turnAt = turnAt;
    connection.pause('suspect');
    setTimeout(() => {
      connection.resume('suspect');
    }, turnAt - now).unref();
  }

  readonly #noteIdle = (connection: Connection): void => {
    if (connection.isIdle && connection.keyId === undefined) this.#idle.add(connection);
    else this.#idle.delete(connection);
  };

  readonly #endFlood = (flooding: Connection): void => {
    this.#dependencies.metrics.countEndedConnection('pipelining');
    this.suspect(flooding);
    const { network, keyId } = flooding;
    if (network === undefined) return;
    for (const other of this.#open.values()) {
      const isOwn = other.keyId === undefined || other.keyId === keyId;
      if (other !== flooding && other.network === network && isOwn) this.#end(other, 'suspect');
    }
  };

  readonly #noteUnsent = (connection: Connection, bytes: number): void => {
    const { counts } = this.#dependencies;
    const unsentBytes = Math.max(0, bytes - connection.sharedBytes);
    const kilobytes = Math.ceil(unsentBytes / KILOBYTE) - Math.ceil(connection.unsentBytes / KILOBYTE);
    counts.change(UNSENT_KB, kilobytes);
    connection.unsentBytes = unsentBytes;
    connection.resume('unsent');
    this.#slow.delete(connection);
    connection.unsentSince = monotonicNow();
    if (bytes === 0) return;
    this.#slow.add(connection);
    const { network, keyId } = connection;
    const maxOfHolder = this.#maxUnsentBytes * HOLDER_SHARE;
    // All holders together have less.
    if (counts.inThis(UNSENT_KB) * KILOBYTE <= maxOfHolder) return;
    this.#bound(this.#maxUnsentBytes, () => true);
    if (network !== undefined) this.#bound(maxOfHolder, (other) => other.network === network);
    if (keyId !== undefined) this.#bound(maxOfHolder, (other) => other.keyId === keyId);
  };

  /** Ends the slowest of some connections, but not the latest, when too many of their bytes wait to be sent. */
  #bound(limit: number, isConcerned: (connection: Connection) => boolean): void {
    const concerned = [...this.#slow].filter(isConcerned);
    let unsent = concerned.reduce((sum, { unsentBytes }) => sum + unsentBytes, 0);
    if (unsent <= limit) return;
    for (const connection of concerned.slice(0, -1)) {
      if (unsent <= limit * UNSENT_SHARE) return;
      unsent -= connection.unsentBytes;
      if (connection.unsentBytes > 0) this.#end(connection, 'unsent-bytes');
    }
  }

  #end(connection: Connection, reason?: EndReason): void {
    if (reason !== undefined) this.#dependencies.metrics.countEndedConnection(reason);
    connection.end();
    this.#noteUnsent(connection, 0);
  }
}
