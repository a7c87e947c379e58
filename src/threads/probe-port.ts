import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Fails when somebody listens on a port, threads that share it among themselves included: they would let others share
 * it, too.
 * @throws the system's error
 */
export async function probePort(port: number, host: string): Promise<void> {
  const server = createServer().listen({ port, host, exclusive: true });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}
