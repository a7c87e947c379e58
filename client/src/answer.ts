import { ConnectionError, FoyerError } from './errors.ts';
import type { Progress } from './progress.ts';

/** A response, whose body is read under the time limit. */
export class Answer {
  readonly status: number;
  readonly #response: Response;
  readonly #request: string;
  readonly #progress: Progress;

  constructor(response: Response, request: string, progress: Progress) {
    this.status = response.status;
    this.#response = response;
    this.#request = request;
    this.#progress = progress;
  }

  /** Returns a header that every such response of the service has. */
  header(name: string): string {
    const value = this.#response.headers.get(name);
    if (value === null) throw new FoyerError(`${this.#request}: the response lacks the header ${name}`);
    return value;
  }

  text(): Promise<string> {
    return this.#progress.within(this.#response.text());
  }

  async json(): Promise<unknown> {
    return this.parse(await this.text());
  }

  /** Parses the body, or a line of it. */
  parse(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw this.malformed('is not JSON', cause);
    }
  }

  /** Yields the body in pieces. Ends the connection when the caller stops before the end. */
  async *chunks(): AsyncGenerator<Uint8Array, void, undefined> {
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
}
