import { connect, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';
const STATUS_AT = 'HTTP/1.1 '.length;
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;

/** Receive buffer of all connections: received bytes are parsed at once and not kept. */
const received = Buffer.allocUnsafeSlow(256 * 1024);

/**
 * A client connection that sends one request at a time. It parses only the status and the length of a response and uses a third of
 * the processor time of a bare server; Node's own client uses more than the server under test, which shares the machine with it.
 */
export class KeepAliveConnection {
  readonly #socket: Socket;
  /** The received part of an incomplete head. */
  #head = '';
  /** Bytes of the body still to be received, once the head is complete. */
  #missing: number | undefined;
  #status = 0;
  #onResponse: ((status: number) => void) | undefined;

  /** @param onClose is called once, when the connection is closed; a pending request completes with status 0 */
  constructor(port: number, onClose: () => void = () => undefined) {
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: received,
        callback: (length) => {
          this.#receive(length);
          return true;
        },
      },
    });
    this.#socket.on('error', () => this.#socket.destroy());
    this.#socket.on('close', () => {
      this.#onResponse?.(0);
      onClose();
    });
  }

  /** @param onResponse is called with the status when the last byte is received */
  send(request: Buffer, onResponse: (status: number) => void): void {
    this.#onResponse = onResponse;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(length: number): void {
    if (this.#missing === undefined) {
      const found = received.subarray(0, length).indexOf(HEAD_END, 0, 'latin1');
      const isWhole = this.#head === '' && found >= 0;
      const head = this.#head + received.toString('latin1', 0, isWhole ? found : length);
      const end = isWhole ? found : head.indexOf(HEAD_END);
      if (end < 0) {
        this.#head = head;
        return;
      }
      const bodyBytes = Number(CONTENT_LENGTH.exec(head.slice(0, end))?.[1] ?? 0);
      this.#missing = end + HEAD_END.length + bodyBytes - this.#head.length - length;
      this.#status = Number(head.slice(STATUS_AT, STATUS_AT + 3));
      this.#head = '';
    } else this.#missing -= length;
    if (this.#missing > 0) return;
    this.#missing = undefined;
    const onResponse = this.#onResponse;
    this.#onResponse = undefined;
    onResponse?.(this.#status);
  }
}
