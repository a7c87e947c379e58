import { ConnectionError, FoyerError } from './errors.ts';
import type { Progress } from './progress.ts';

const NEWLINE = 0x0a;
const decoder = new TextDecoder();

/** A response, whose body is read within the limits of time and size. */
export class Answer {
  readonly status: number;
  readonly #response: Response;
  readonly #request: string;
  readonly #progress: Progress;
  readonly #maxBytes: number;
  /** The beginning of the body or of a line. It doubles, since a server may send single bytes. */
  #buffer = new Uint8Array(0);
  #length = 0;

  constructor(response: Response, request: string, progress: Progress, maxBytes: number) {
    this.status = response.status;
    this.#response = response;
    this.#request = request;
    this.#progress = progress;
    this.#maxBytes = maxBytes;
  }

  /** Returns a header that every such response of the service has. */
  header(name: string): string {
    const value = this.#response.headers.get(name);
    if (value === null) throw new FoyerError(`${this.#request}: the response lacks the header ${name}`);
    return value;
  }

  text(): Promise<string> {
    return this.#progress.within(this.#readText());
  }

  async #readText(): Promise<string> {
    for await (const chunk of this.#chunks()) this.#add(chunk, 'has');
    return this.#take();
  }

  async json(): Promise<unknown> {
    return this.#parse(await this.text());
  }

  /**
   * Yields the parsed lines of the body, as many at a time as arrive. A body that breaks off raises a ConnectionError.
   * Ends the connection when the caller stops before the end.
   */
  async *lines(): AsyncGenerator<unknown[], void, undefined> {
    for await (const chunk of this.#chunks()) {
      const last = chunk.lastIndexOf(NEWLINE);
      // Further lines begin within the chunk, which is in memory.
      const first = last < 0 ? chunk.length : chunk.indexOf(NEWLINE);
      this.#add(last < 0 ? chunk : chunk.subarray(0, last), 'has a line of', first);
      if (last < 0) continue;
      const lines = this.#take().split('\n');
      this.#add(chunk.subarray(last + 1), 'has a line of');
      yield lines.map((line) => this.#parse(line));
    }
    if (this.#length > 0) throw this.incomplete();
  }

  /** Adds bytes to the buffer. The first `limited` ones continue its line or body. */
  #add(bytes: Uint8Array, has: string, limited = bytes.length): void {
    const length = this.#length + bytes.length;
    if (this.#length + limited > this.#maxBytes)
      throw this.malformed(`${has} more than ${this.#maxBytes} bytes, the limit maxBytes`);
    if (length > this.#buffer.length) {
      const smaller = this.#buffer;
      this.#buffer = new Uint8Array(2 * length);
      this.#buffer.set(smaller);
    }
    this.#buffer.set(bytes, this.#length);
    this.#length = length;
  }

  /** Empties the buffer. Returns its text. */
  #take(): string {
    const text = decoder.decode(this.#buffer.subarray(0, this.#length));
    this.#length = 0;
    return text;
  }

  async *#chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    const body: ReadableStream<Uint8Array> | null = this.#response.body;
    if (body === null) return;
    const reader = body.getReader();
    try {
      for (;;) {
        const { value, done } = await this.#progress.within(reader.read());
        if (done) return;
        yield value;
      }
    } finally {
      // Does nothing after the last chunk. A broken connection has been reported.
      await reader.cancel().catch(() => undefined);
    }
  }

  /** Returns the error of a body that ends too early. */
  incomplete(): ConnectionError {
    return new ConnectionError(`${this.#request}: the response broke off`);
  }

  /** Returns the error of a body that is not in the form of the service. */
  malformed(reason: string, cause?: unknown): FoyerError {
    return new FoyerError(`${this.#request}: the body of the response ${reason}`, { cause });
  }

  #parse(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw this.malformed('is not JSON', cause);
    }
  }
}
