import { ProbedProcess } from './child.ts';
import type { ProbeReport } from './probe.ts';

const BARE = new URL('./bare-server.ts', import.meta.url);
const USUAL = new URL('./usual-server.ts', import.meta.url);
const RIVAL = new URL('./rival-server.ts', import.meta.url);

/** Files of the usual server and of the rival. */
export interface DatabaseSources {
  readonly snapshot: string;
  readonly keysFile: string;
  /** The server's own database; the server builds it when it is absent. */
  readonly database: string;
}

/** A server in its own process that Foyer is compared with. */
export class ComparisonServer implements AsyncDisposable {
  readonly #process: ProbedProcess;
  readonly port: number;

  private constructor(process: ProbedProcess, port: number) {
    this.#process = process;
    this.port = port;
  }

  /**
   * Starts a server that sends captured responses.
   * @param kind `node:http` or Express
   * @param responses file of the captured responses
   * @param varying number of characters at the end of a target that are not part of the path of its response
   * @param chunkBytes length of the chunks in which bodies are streamed, 0 for whole bodies
   */
  static async bare(
    kind: 'node' | 'express',
    responses: string,
    signal: AbortSignal,
    varying = 0,
    chunkBytes = 0,
  ): Promise<ComparisonServer> {
    const args = [kind, responses, String(varying), String(chunkBytes)];
    return await ComparisonServer.#start(BARE, args, `${responses}.${kind}.log`, signal);
  }

  static async usual(sources: DatabaseSources, signal: AbortSignal): Promise<ComparisonServer> {
    return await ComparisonServer.#fromDatabase(USUAL, sources, signal);
  }

  /** @param remembersTotals whether the rival caches the totals of its lists */
  static async rival(
    sources: DatabaseSources,
    remembersTotals: boolean,
    signal: AbortSignal,
  ): Promise<ComparisonServer> {
    const options = remembersTotals ? ['remember'] : [];
    return await ComparisonServer.#fromDatabase(RIVAL, sources, signal, options);
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
      return new ComparisonServer(process, await process.nextMessage<number>());
    } catch (error) {
      await process[Symbol.asyncDispose]();
      throw error;
    }
  }

  probe(): Promise<ProbeReport> {
    return this.#process.probe();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }
}
