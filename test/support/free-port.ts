import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that the system gives to connections, from which a port could be taken before it is used. */
const PORTS = { first: 20_000, end: 32_768 };
let nextPort = PORTS.first + ((process.pid * 100) % (PORTS.end - PORTS.first));

/** Returns the number of a port that is free at the moment, another one each time. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = nextPort++;
    if (nextPort === PORTS.end) nextPort = PORTS.first;
    const server = createServer().listen(port, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return port;
  }
}
