import { connect, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';
const STATUS_AT = 'HTTP/1.1 '.length;
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;

/** Where every connection receives: what comes is looked at at once, and not kept. */
const received = Buffer.allocUnsafeSlow(256 * 1024);

/**
 * A connection that asks for one thing at a time. A client of the library costs more than the server under test,
 * which has the machine with it; this reads no more of an answer than its status and its length, and takes a third
 * of the processor time of a bare server.
 */
export class KeepAliveConnection {
  readonly #socket: Socket;
  /** What came of a head that is not complete. */
  #head = '';
  /** Bytes of the body that are still to come, once the head is there. */
  #missing: number | undefined;
  #status = 0;
  #answered: ((status: number) => void) | undefined;

  /** @param onClose is called once, when no more can be asked for; what was asked for is answered with 0. */
  constructor(port: number, onClose: () => void = () => undefined) {
    this.#socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: received,
        callback: (length) => {
          this.#take(length);
          return true;
        },
      },
    });
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

  #take(length: number): void {
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
    const answered = this.#answered;
    this.#answered = undefined;
    answered?.(this.#status);
  }
}
