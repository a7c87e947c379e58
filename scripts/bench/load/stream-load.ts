import { connect } from 'node:net';
import { requestBytes, type Target } from './traffic.ts';
import { MEGABYTE } from '../../../src/store/memory/shared-arrays.ts';

/** Reads streams as fast as possible, each over a connection of its own, and restarts each when it ends. */
export interface StreamLoad {
  readonly port: number;
  readonly credential: string;
  readonly target: Target;
  /** Number of streams at a time. */
  readonly streams: number;
}

/** Starts a load, or stops it. */
export type StreamCommand = { readonly start: StreamLoad } | 'stop';

export interface StreamReport {
  /** Head and chunks included. */
  readonly bytes: number;
  readonly seconds: number;
}

const BUFFER_BYTES = MEGABYTE;

class Load {
  readonly #load: StreamLoad;
  readonly #startedAt = performance.now();
  #bytes = 0;
  #isStopped = false;

  constructor(load: StreamLoad) {
    this.#load = load;
    for (let i = 0; i < load.streams; i++) this.#read();
  }

  stop(): StreamReport {
    this.#isStopped = true;
    return { bytes: this.#bytes, seconds: (performance.now() - this.#startedAt) / 1000 };
  }

  #read(): void {
    const { port, credential, target } = this.#load;
    const headers = { ...target.headers, connection: 'close' };
    const socket = connect({
      port,
      host: '127.0.0.1',
      // One buffer for all reads: the content does not matter.
      onread: {
        buffer: Buffer.alloc(BUFFER_BYTES),
        callback: (bytes) => {
          this.#bytes += bytes;
          if (this.#isStopped) socket.destroy();
          return true;
        },
      },
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (!this.#isStopped) this.#read();
    });
    socket.write(requestBytes(port, credential, { path: target.path, headers }));
  }
}

let load: Load | undefined;

process.on('message', (command: StreamCommand) => {
  if (command !== 'stop') {
    load = new Load(command.start);
    process.send?.({ bytes: 0, seconds: 0 } satisfies StreamReport);
    return;
  }
  process.send?.(load?.stop());
});
process.once('disconnect', () => process.exit());
