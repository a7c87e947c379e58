import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { monotonicNow } from '../../clock.ts';
import type { Config } from '../../config.ts';
import { CONNECTIONS, type OpenCounts, UNSENT_KB } from '../../counts/open-counts.ts';
import type { EndReason, RequestMetrics } from '../../counts/request-metrics.ts';
import { Connection, type ConnectionEvents } from './connection.ts';

const KILOBYTE = 2 ** 10;
/** The part of the limit of unsent bytes that one key may hold. */
const KEY_SHARE = 0.25;
/** At a limit of unsent bytes, the slowest connections end until this share of it is left. */
const UNSENT_SHARE = 0.9;
/** Time without progress after which a connection with unsent bytes is not read, and the interval of the checks. */
const UNSENT_CHECK_MS = 1000;

interface ConnectionDependencies {
  readonly config: Pick<Config, 'writeTimeoutSeconds' | 'maxUnsentMb' | 'threads'>;
  readonly counts: OpenCounts;
  readonly metrics: RequestMetrics;
}

/**
 * The open connections of a server, and their limits.
 *
 * - Beyond the limit in all, the connection without a valid key that is idle for the longest time ends in place of the
 *   new one, so that silent connections do not lock out keys.
 * - A connection without progress ends. Bytes that it sends are no progress of its response.
 * - When too many bytes of a key or in all wait to be sent, the slowest connections of them end.
 */
export class Connections {
  readonly #dependencies: ConnectionDependencies;
  readonly #events: ConnectionEvents;
  readonly #maxUnsentBytes: number;
  readonly #open = new Map<Socket, Connection>();
  readonly open: ReadonlyMap<Socket, Connection> = this.#open;
  /** Those without a request in progress that had no valid key, the longest idle first. */
  readonly #idle = new Set<Connection>();
  /** Those whose response waits to be sent, the slowest first. */
  readonly #slow = new Set<Connection>();
  /** Whether each response closes its connection, and whether idle connections end. */
  #isDraining = false;
  #endsIdle = false;

  constructor(
    server: Server,
    dependencies: ConnectionDependencies,
    handler: Pick<ConnectionEvents, 'handle' | 'closed'>,
  ) {
    this.#dependencies = dependencies;
    const { config, metrics } = dependencies;
    this.#events = {
      ...handler,
      handle: (connection, request, response) => {
        if (this.#isDraining) connection.closeAfterLatest();
        handler.handle(connection, request, response);
      },
      changedIdle: this.#noteIdle,
      flooded: () => {
        metrics.countEndedConnection('pipelining');
      },
      waits: this.#noteUnsent,
    };
    this.#maxUnsentBytes = (config.maxUnsentMb * KILOBYTE ** 2) / config.threads;
    server.setTimeout(config.writeTimeoutSeconds * 1000, (socket) => {
      const connection = this.open.get(socket);
      if (connection !== undefined) this.#end(connection, connection.isIdle ? undefined : 'no-progress');
    });
    server.on('connection', (socket: Socket) => {
      this.#accept(socket);
    });
    // While a connection is read, received bytes would refresh its timeout.
    setInterval(() => {
      const since = monotonicNow() - UNSENT_CHECK_MS;
      for (const connection of this.#slow) if (connection.unsentSince < since) connection.pause('unsent');
    }, UNSENT_CHECK_MS).unref();
  }

  /** Closes each connection after the responses to the requests that it has, or with the next one. */
  beginDrain(): void {
    this.#isDraining = true;
    for (const connection of this.open.values()) connection.closeAfterLatest();
  }

  /** Ends the connections without a request, and the others when they have none. */
  endIdle(): void {
    this.#endsIdle = true;
    for (const connection of this.open.values()) if (connection.isIdle) connection.end();
  }

  #accept(socket: Socket): void {
    const { counts } = this.#dependencies;
    const connection = new Connection(socket, this.#events);
    this.#open.set(socket, connection);
    this.#idle.add(connection);
    counts.change(CONNECTIONS, 1);
    socket.on('close', () => {
      this.#open.delete(socket);
      this.#idle.delete(connection);
      counts.change(CONNECTIONS, -1);
    });
    if (counts.inAll(CONNECTIONS) <= counts.limit) return;
    const [longest] = this.#idle;
    this.#idle.delete(longest);
    this.#end(longest, 'limit');
  }

  readonly #noteIdle = (connection: Connection): void => {
    if (connection.isIdle && connection.keyId === undefined) this.#idle.add(connection);
    else this.#idle.delete(connection);
    if (connection.isIdle && this.#endsIdle) connection.endAfterLatest();
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
    const { keyId } = connection;
    const maxOfKey = this.#maxUnsentBytes * KEY_SHARE;
    // All keys together have less.
    if (counts.inThis(UNSENT_KB) * KILOBYTE <= maxOfKey) return;
    this.#bound(this.#maxUnsentBytes, () => true);
    if (keyId !== undefined) this.#bound(maxOfKey, (other) => other.keyId === keyId);
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
