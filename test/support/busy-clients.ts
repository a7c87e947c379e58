import { connect } from 'node:net';
import { workerData } from 'node:worker_threads';

/** Program of a thread that asks on many connections without a pause, and opens silent ones. */
export interface BusyClientsInput {
  readonly port: number;
  readonly connections: number;
  readonly silentPerSecond: number;
}

const REQUEST = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
const INTERVAL_MS = 50;

const { port, connections, silentPerSecond } = workerData as BusyClientsInput;

for (let i = 0; i < connections; i++) {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.on('data', () => socket.write(REQUEST));
  socket.write(REQUEST);
}
setInterval(() => {
  for (let i = 0; i < (silentPerSecond * INTERVAL_MS) / 1000; i++)
    connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
}, INTERVAL_MS);
