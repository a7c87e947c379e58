import { connect, type Socket } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/**
 * Program of a thread that pipelines requests as fast as a server reads them, and connects again when it is
 * disconnected. A message stops it; it then posts how many responses it has received.
 */
export interface FloodInput {
  readonly port: number;
  readonly connections: number;
}

const REQUESTS = Buffer.from('GET /v1/x HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2000));
const RESPONSE = 'HTTP/1.1 ';

const { port, connections } = workerData as FloodInput;
const sockets = new Set<Socket>();
let responses = 0;
let isActive = true;

function flood(): void {
  if (!isActive) return;
  const socket = connect({ port, host: '127.0.0.1' });
  sockets.add(socket);
  const pump = () => {
    while (isActive && socket.write(REQUESTS));
  };
  socket.on('connect', pump).on('drain', pump);
  socket.on('error', () => undefined);
  socket.on('data', (data) => (responses += data.toString('latin1').split(RESPONSE).length - 1));
  socket.on('close', () => {
    sockets.delete(socket);
    setImmediate(flood);
  });
}

for (let i = 0; i < connections; i++) flood();
parentPort?.once('message', () => {
  isActive = false;
  for (const socket of sockets) socket.destroy();
  parentPort?.postMessage(responses);
});
