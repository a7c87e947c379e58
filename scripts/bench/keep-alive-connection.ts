import { connect } from 'node:net';
import type { Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';

/**
 * A connection that asks for one thing at a time. A client of the library costs about as much as the server under
 * test, which has the machine with it; this reads no more of an answer than its status and its length.
 */
export class KeepAliveConnection {
  readonly #socket: Socket;
  #received = '';
  /** Bytes of the body that are still to come, once the head is there. */
  #missing: number | undefined;
  #status = 0;
  #answered: ((status: number) => void) | undefined;

  /** @param onClose is called once, when no more can be asked for; what was asked for is answered with 0. */
  constructor(port: number, onClose: () => void) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', this.#take);
    this.#socket.on('error', () => this.#socket.destroy());
    this.#socket.on('close', () => {
      this.#answered?.(0);
      onClose();
    });
  }

  /** @param answered is called with the status when the last byte is there */
  ask(request: Buffer, answered: (status: number) => void): void {
    this.#answered = answered;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  readonly #take = (chunk: Buffer) => {
    if (this.#missing === undefined) {
      this.#received += chunk.toString('latin1');
      const end = this.#received.indexOf(HEAD_END);
      if (end < 0) return;
      const head = this.#received.slice(0, end);
      this.#status = Number(head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
      const [, length = '0'] = /^content-length: *(\d+)/im.exec(head) ?? [];
      this.#missing = end + HEAD_END.length + Number(length) - this.#received.length;
    } else this.#missing -= chunk.length;
    if (this.#missing > 0) return;
    this.#received = '';
    this.#missing = undefined;
    const answered = this.#answered;
    this.#answered = undefined;
    answered?.(this.#status);
  };
}
