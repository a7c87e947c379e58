import { Agent } from 'node:http';
import { DEATH_HEADER, type Death, THREAD_HEADER } from './mortal-thread.ts';
import type { Answer, ReplicaUnderTest } from './replica-under-test.ts';

/** Options of Node that make the workers of a replica identifiable and mortal. */
export const MORTAL = `--import=${new URL('./mortal-thread.ts', import.meta.url).href}`;

/** A keep-alive connection to one worker of a replica with `MORTAL` threads. */
export class Connection {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #replica: ReplicaUnderTest;
  /** The worker of the last response. */
  thread = '';

  constructor(replica: ReplicaUnderTest) {
    this.#replica = replica;
  }

  async ask(path: string, credential = '', headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const answer = await this.#replica.request(path, credential, headers, this.#agent);
    this.thread = String(answer.headers[THREAD_HEADER]);
    return answer;
  }

  /** Ends the worker. */
  async kill(death: Death = 'exits'): Promise<void> {
    await this.ask('/healthz', '', { [DEATH_HEADER]: death }).catch(() => undefined);
  }

  close(): void {
    this.#agent.destroy();
  }
}

const MAX_TRIES = 200;

/**
 * Opens `count` connections to each worker of a replica.
 * The system assigns a connection to a worker, so this opens connections until each worker has enough.
 */
export async function connectionsToEach(
  replica: ReplicaUnderTest,
  threads: number,
  count: number,
): Promise<Connection[]> {
  const byThread = new Map<string, Connection[]>();
  const isEnough = () =>
    byThread.size === threads && byThread.values().every((ofThread) => ofThread.length === count);
  for (let i = 0; i < MAX_TRIES && !isEnough(); i++) {
    const connection = new Connection(replica);
    await connection.ask('/healthz');
    const ofThread = byThread.get(connection.thread) ?? [];
    byThread.set(connection.thread, ofThread);
    if (ofThread.length < count) ofThread.push(connection);
    else connection.close();
  }
  if (!isEnough()) throw new Error(`not ${count} connections to each worker after ${MAX_TRIES} tries`);
  return [...byThread.values()].flat();
}
