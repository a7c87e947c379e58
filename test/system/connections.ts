import { Agent } from 'node:http';
import { THREAD_HEADER } from './mortal-thread.ts';
import type { Answer, ReplicaUnderTest } from '../support/replica-under-test.ts';

/** One connection, which is kept, to one of the threads of a replica that has mortal ones. */
export class Connection {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #replica: ReplicaUnderTest;
  /** The thread that answered last. */
  thread = '';

  constructor(replica: ReplicaUnderTest) {
    this.#replica = replica;
  }

  async ask(
    path: string,
    credential: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const answer = await this.#replica.ask(path, credential, headers, this.#agent);
    this.thread = String(answer.headers[THREAD_HEADER]);
    return answer;
  }

  close(): void {
    this.#agent.destroy();
  }
}

const MOST_TRIES = 200;

/** Connections to a replica, as many to each of its threads. The system chooses the thread, so it is asked until it fits. */
export async function connectionsToEach(
  replica: ReplicaUnderTest,
  threads: number,
  count: number,
): Promise<Connection[]> {
  const byThread = new Map<string, Connection[]>();
  const isEnough = () =>
    byThread.size === threads && byThread.values().every((some) => some.length === count);
  for (let i = 0; i < MOST_TRIES && !isEnough(); i++) {
    const connection = new Connection(replica);
    await connection.ask('/healthz', '');
    const some = byThread.get(connection.thread) ?? [];
    byThread.set(connection.thread, some);
    if (some.length < count) some.push(connection);
    else connection.close();
  }
  if (!isEnough()) throw new Error(`${byThread.size} threads answered, and not ${threads}`);
  return [...byThread.values()].flat();
}
