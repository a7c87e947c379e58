import type { Server } from 'node:http';
import type { Socket } from 'node:net';

const LOOK_MS = 1000;

/**
 * Has a server find its idle connections by a look at all of them now and then. By itself Node sets a timer for a
 * connection after each answer and takes it back at the next request, which is a twentieth of all that a small answer
 * takes. When there is to be a timeout, and what comes of it, is Node's as before; it asks for one between two requests
 * alone, so what is written makes no difference.
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
  /** When it was first seen with so many bytes. */
  #idleSince = 0;
  #bytesRead = -1;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Begins anew only where something was read since the last look, as it is when a request was answered. */
  set(milliseconds: number): void {
    this.#milliseconds = milliseconds;
  }

  look(now: number): void {
    if (this.#milliseconds === 0) return;
    const { bytesRead } = this.#socket;
    if (bytesRead !== this.#bytesRead) {
      this.#idleSince = now;
      this.#bytesRead = bytesRead;
    } else if (now - this.#idleSince >= this.#milliseconds) {
      this.#milliseconds = 0;
      this.#socket.emit('timeout');
    }
  }
}
