import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Lets a server listen. Returns its port. */
export async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Ends a server with its connections. */
export async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** Returns a function like `listen`, whose servers end after each test of the calling suite. */
export function servesForEach(): typeof listen {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) await close(server);
  });
  return (server) => {
    servers.push(server);
    return listen(server);
  };
}
