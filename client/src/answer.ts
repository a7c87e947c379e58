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
    return this.#parse(await this.text());
  }

  /**
   * Yields the parsed lines of the body, as many at a time as arrive. A body that breaks off raises a ConnectionError.
   * Ends the connection when the caller stops before the end.
   */
  async *lines(): AsyncGenerator<unknown[], void, undefined> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of this.#chunks()) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      if (lines.length > 0) yield lines.map((line) => this.#parse(line));
    }
    if (rest !== '') throw this.incomplete();
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
