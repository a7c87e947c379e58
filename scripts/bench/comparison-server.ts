import { ProbedProcess } from './probed-process.ts';
import type { ProbeAnswer } from './probe.ts';

const BARE = new URL('./bare-server.ts', import.meta.url);
const USUAL = new URL('./usual-server.ts', import.meta.url);

/** What the usual server is made of. */
export interface UsualSources {
  readonly snapshot: string;
  readonly keysFile: string;
  /** File of its own database, made when there is none. */
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

  /** @param answers the file with what it answers */
  static async bare(answers: string, signal: AbortSignal): Promise<ComparisonServer> {
    return await ComparisonServer.#start(BARE, [answers], `${answers}.log`, signal);
  }

  static async usual(
    { snapshot, keysFile, database }: UsualSources,
    signal: AbortSignal,
  ): Promise<ComparisonServer> {
    return await ComparisonServer.#start(USUAL, [snapshot, keysFile, database], `${database}.log`, signal);
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
