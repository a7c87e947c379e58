import { ProbedProcess } from './child.ts';
import type { ProbeAnswer } from './probe.ts';

const BARE = new URL('./bare-server.ts', import.meta.url);
const USUAL = new URL('./usual-server.ts', import.meta.url);
const RIVAL = new URL('./rival-server.ts', import.meta.url);

/** Where the usual server and the rival get their data. */
export interface DatabaseSources {
  readonly snapshot: string;
  readonly keysFile: string;
  /** File of the server's own database, made when there is none. */
  readonly database: string;
}

/** A server that Foyer is compared with, in its own process. */
export class ComparisonServer implements AsyncDisposable {
  readonly #process: ProbedProcess;
  readonly port: number;

  private constructor(process: ProbedProcess, port: number) {
    this.#process = process;
    this.port = port;
  }

  /**
   * @param answers file of the responses
   * @param changing characters at the end of a target that are no part of the path of its response
   */
  static async bare(answers: string, signal: AbortSignal, changing = 0): Promise<ComparisonServer> {
    return await ComparisonServer.#start(BARE, [answers, String(changing)], `${answers}.log`, signal);
  }

  static async usual(sources: DatabaseSources, signal: AbortSignal): Promise<ComparisonServer> {
    return await ComparisonServer.#fromDatabase(USUAL, sources, signal);
  }

  /** @param remembers whether it remembers totals */
  static async rival(
    sources: DatabaseSources,
    remembers: boolean,
    signal: AbortSignal,
  ): Promise<ComparisonServer> {
    return await ComparisonServer.#fromDatabase(RIVAL, sources, signal, remembers ? ['remember'] : []);
  }

  static async #fromDatabase(
    script: URL,
    { snapshot, keysFile, database }: DatabaseSources,
    signal: AbortSignal,
    options: readonly string[] = [],
  ): Promise<ComparisonServer> {
    const log = `${database}${options.join('')}.log`;
    return await ComparisonServer.#start(script, [snapshot, keysFile, database, ...options], log, signal);
  }

  static async #start(
    script: URL,
    args: readonly string[],
    output: string,
    signal: AbortSignal,
  ): Promise<ComparisonServer> {
    const process = new ProbedProcess(script, signal, { args, output });
    try {
      return new ComparisonServer(process, await process.hear<number>());
    } catch (error) {
      await process[Symbol.asyncDispose]();
      throw error;
    }
  }

  probe(): Promise<ProbeAnswer> {
    return this.#process.probe();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }
}
