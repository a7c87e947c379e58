import { once } from 'node:events';
import type { Server } from 'node:http';
import {
  type AddressInfo,
  createServer as createNetServer,
  type ListenOptions,
  type Server as NetServer,
  type Socket,
} from 'node:net';
import type { Connections } from './connections.ts';

/** Connections that the system completes before the server accepts them. The system may have a lower limit. */
const BACKLOG = 4096;
/** Sockets that listen on a port that can be shared. */
const SOCKETS = 32;

/**
 * The port of an HTTP server, which a separate server binds: `close` of an HTTP server would also destroy connections whose
 * responses are not sent yet. It may have further sockets on the same port: in a turn of the event loop, each accepts one
 * connection, whatever the number of requests in that turn.
 */
export class Listener {
  readonly #server: Server;
  readonly #connections: Connections;
  readonly #ports: NetServer[] = [];

  constructor(server: Server, connections: Connections) {
    this.#server = server;
    this.#connections = connections;
  }

  /** Binds the port and returns its number. Rejects with the system's error. */
  async listen(options: ListenOptions): Promise<number> {
    const port = await this.#bind(createNetServer(), options);
    this.#server.listen(this.#ports[0], BACKLOG);
    await once(this.#server, 'listening');
    const inject = (socket: Socket) => this.#server.emit('connection', socket);
    for (let i = 1; options.reusePort === true && i < SOCKETS; i++)
      await this.#bind(createNetServer({ allowHalfOpen: true, noDelay: true }, inject), { ...options, port });
    return port;
  }

  /**
   * Ends the server: from now on, each response closes its connection. When proxies have noticed that the process is not
   * ready, the port and the idle connections close, and after the grace the others. Fulfilled when all have ended.
   */
  async drain(noticed: Promise<unknown>, graceSeconds: number): Promise<void> {
    this.#connections.beginDrain();
    await noticed;
    for (const port of this.#ports) port.close();
    this.#connections.endIdle();
    const { open } = this.#connections;
    const grace = setTimeout(() => {
      for (const connection of open.values()) connection.end();
    }, graceSeconds * 1000);
    // A socket closes after an error, too.
    for (const { socket } of open.values()) await once(socket, 'close').catch(() => undefined);
    clearTimeout(grace);
    this.#server.close();
  }

  async #bind(port: NetServer, options: ListenOptions): Promise<number> {
    this.#ports.push(port);
    port.listen({ ...options, backlog: BACKLOG });
    await once(port, 'listening');
    return (port.address() as AddressInfo).port;
  }
}

/**
 * Fails when a port is in use. Workers share their port, so a worker could bind a port that another program also
 * shares.
 * @throws the system's error
 */
export async function probePort(port: number, host: string): Promise<void> {
  const server = createNetServer().listen({ port, host, exclusive: true });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
