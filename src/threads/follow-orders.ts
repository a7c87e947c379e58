import type { Server } from 'node:http';
import type { MessagePort } from 'node:worker_threads';
import { Drain, Listener } from '../http/drain.ts';
import type { ThreadKeys } from './thread-keys.ts';
import type { Asked, Listening, Order, Outcome, ThreadMemory, Told } from './thread-protocol.ts';
import type { ThreadStores } from './thread-stores.ts';

export interface OrderedThread {
  readonly server: Server;
  readonly memory: ThreadMemory;
  readonly stores: ThreadStores;
  readonly keys: ThreadKeys;
  readonly supervisor: MessagePort;
  /** Ends the thread; called when nobody is connected any more. */
  readonly end: () => void;
}

/** Does what the supervisor orders, from now on. */
export function followOrders({ server, memory, stores, keys, supervisor, end }: OrderedThread): void {
  const listener = new Listener(server);
  const drain = new Drain(server, listener, memory.drain);
  const tell = (told: Told) => {
    supervisor.postMessage(told);
  };
  let steps = 0;
  let goOn: (() => void) | undefined;
  const together = () => {
    tell({ waitsAt: ++steps });
    return new Promise<void>((resolve) => (goOn = resolve));
  };
  const follow = async (order: Order): Promise<Outcome> => {
    switch (order.name) {
      case 'know':
        stores.know(order.content);
        return {};
      case 'prepare':
        stores.prepare(order.content);
        return {};
      case 'settle':
        stores.settle();
        return {};
      case 'take':
        keys.take(order.content);
        return {};
      case 'listen':
        return await listen(listener, order.content);
      case 'stop': {
        const { graceSeconds, hurry } = order.content;
        await drain.run(graceSeconds, hurry, together);
        return {};
      }
      case 'go on':
        goOn?.();
        return {};
    }
  };
  supervisor.on('message', ({ number, order }: Asked) => {
    void follow(order).then((outcome) => {
      tell({ answered: number, outcome });
      if (order.name === 'stop') end();
    });
  });
  tell({ isStarted: true });
}

async function listen(listener: Listener, { port, host, isShared }: Listening): Promise<Outcome> {
  try {
    return { port: await listener.listen({ port, host, reusePort: isShared }) };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    // A message loses the code of an error.
    const { message, code, syscall } = error;
    return { failure: { message, code, syscall } };
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}
