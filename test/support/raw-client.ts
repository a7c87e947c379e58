import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection that records the received text, as Latin-1, its first error and its end. */
export class RawClient {
  received = '';
  error: string | undefined;
  readonly socket: Socket;
  /** Fulfilled when the connection is closed. */
  readonly ended: Promise<unknown>;

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1' });
    this.socket.setEncoding('latin1').on('data', (text: string) => (this.received += text));
    this.socket.on('error', ({ code }: NodeJS.ErrnoException) => (this.error ??= code));
    this.ended = new Promise((resolve) => this.socket.on('close', resolve));
  }

  /** Waits until the received text has a property, or the connection is closed. */
  async receives(isComplete: () => boolean): Promise<void> {
    while (!isComplete() && !this.socket.closed) await Promise.race([once(this.socket, 'data'), this.ended]);
  }
}
