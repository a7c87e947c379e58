import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const LOOK_MS = 1000;

/**
 * Has a server find its idle connections by a look at all of them now and then. By itself Node sets a timer for a
 * connection after each answer and takes it back at the next request, which is a twentieth of all that a small answer
 * takes. When there is to be a timeout, and what comes of it, is Node's as before.
 *
 * @param lookMs a connection is idle for at most twice so long beyond its time
 */
export function lookForIdleConnections(server: Server, lookMs = LOOK_MS): void {
  const timeouts = new Set<LooseTimeout>();
  server.on('connection', (socket: Socket) => {
    const timeout = new LooseTimeout(socket);
    timeouts.add(timeout);
    socket.on('close', () => timeouts.delete(timeout));
    socket.setTimeout = (milliseconds, callback) => {
      timeout.set(milliseconds);
      if (callback !== undefined) socket.once('timeout', callback);
      return socket;
    };
  });
  const timer = setInterval(() => {
    const now = performance.now();
    for (const timeout of timeouts) timeout.look(now);
  }, lookMs).unref();
  server.on('close', () => {
    clearInterval(timer);
  });
}

/** The timeout of a connection: never early, and late by as much as nobody has looked. */
class LooseTimeout {
  readonly #socket: Socket;
  /** 0 while there is none. */
  #milliseconds = 0;
  /** When it was first seen as it is; undefined while nobody has looked since it was set. */
  #idleSince: number | undefined;
  #bytesRead = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  set(milliseconds: number): void {
    this.#milliseconds = milliseconds;
    this.#idleSince = undefined;
  }

  look(now: number): void {
    if (this.#milliseconds === 0) return;
    const { bytesRead } = this.#socket;
    if (this.#idleSince === undefined || bytesRead !== this.#bytesRead) {
      this.#idleSince = now;
      this.#bytesRead = bytesRead;
    } else if (now - this.#idleSince >= this.#milliseconds) {
      this.set(0);
      this.#socket.emit('timeout');
    }
  }
}
