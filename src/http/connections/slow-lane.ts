import type { Socket } from 'node:net';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { monotonicNow } from '../../clock.ts';

/** Time for which a network stays suspect after its latest flood. */
const SUSPECT_MS = 60_000;
/** Minimum time between the turns of two sockets. */
const PAUSE_MS = 20;
/** Maximum share of the time that turns take. Node parses one read of 64 kB of requests in some 20 ms. */
const MAX_SHARE = 0.2;

/**
 * Reads the sockets of suspect networks one at a time.
 *
 * Node parses all requests of one read, up to 64 kB, before it reads another socket; neither a response nor `destroy`
 * stops it. Therefore the sockets are paused, and each waits for its turn. The longer a turn takes, the later the next
 * one comes.
 */
export class SlowLane {
  /** The end of suspicion by network, earliest first. */
  readonly #suspects = new Map<string, number>();
  /** Paused sockets, in the order of their turns. */
  readonly #waiting = new Set<Socket>();
  #isTakingTurns = false;
  #hasEnded = false;

  /** Makes a network suspect, or renews the suspicion. */
  suspect(network: string): void {
    const now = monotonicNow();
    for (const [other, until] of this.#suspects) {
      if (until > now) break;
      this.#suspects.delete(other);
    }
    this.#suspects.delete(network);
    this.#suspects.set(network, now + SUSPECT_MS);
  }

  isSuspect(network: string): boolean {
    return (this.#suspects.get(network) ?? 0) > monotonicNow();
  }

  /** Pauses a socket until its turn. */
  add(socket: Socket): void {
    if (socket.destroyed) return;
    if (this.#hasEnded) {
      socket.destroy();
      return;
    }
    socket.pause();
    this.#waiting.add(socket);
    if (!this.#isTakingTurns) void this.#takeTurns();
  }

  /** Forgets a closed socket. */
  remove(socket: Socket): void {
    this.#waiting.delete(socket);
  }

  /** Ends all waiting sockets, and those that are added later. */
  end(): void {
    this.#hasEnded = true;
    for (const socket of this.#waiting) socket.destroy();
  }

  async #takeTurns(): Promise<void> {
    this.#isTakingTurns = true;
    for (const socket of this.#waiting) {
      this.#waiting.delete(socket);
      const start = monotonicNow();
      socket.resume();
      // The event loop reads the socket between these two.
      await turn();
      await turn();
      const elapsed = monotonicNow() - start;
      await delay(Math.max(PAUSE_MS, elapsed / MAX_SHARE), undefined, { ref: false });
    }
    this.#isTakingTurns = false;
  }
}
