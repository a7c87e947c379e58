import { setPriority } from 'node:os';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls, createSecureContext } from 'node:tls';

/** Program of a process that attacks a proxy. It reports how many connections were open at most while it opened all. */
export interface Attack {
  readonly port: number;
  readonly connections: number;
  /** The second number of its addresses, 127.x.0.0/16. */
  readonly network: number;
  /** Connections of an address. */
  readonly ofAddress: number;
  /** Sent by TLS; empty for a connection that stays silent. */
  readonly request: string;
  /** Sends the request once, a byte of it a second, as often as it is answered, or, once all are open, without end. */
  readonly sends: 'once' | 'slowly' | 'when answered' | 'endlessly';
  readonly reads: boolean;
  /** Further connections of two addresses, which request once. */
  readonly newPerSecond?: number;
}

const OPENING = 64;
const REOPEN_MS = 2000;
/** With the session of the first connection, a handshake costs this process little. */
const secureContext = createSecureContext({ maxVersion: 'TLSv1.2' });
let session: Buffer | undefined;
let open = 0;
let mostOpen = 0;
const allWereOpen = Promise.withResolvers<undefined>();

/** Connects from the address of the i-th connection. Silent connections do not begin TLS. */
function connectAs({ port, network, ofAddress, request }: Attack, i: number): Socket {
  const address = Math.floor(i / ofAddress);
  const localAddress = `127.${network}.${Math.floor(address / 250)}.${(address % 250) + 1}`;
  const to = { port, host: '127.0.0.1', localAddress };
  const socket =
    request === ''
      ? connect(to)
      : connectTls({ ...to, secureContext, session, rejectUnauthorized: false }).on(
          'session',
          (given: Buffer) => (session = given),
        );
  return socket.on('error', () => undefined);
}

/** Opens a connection, and another one when it is closed. Fulfilled when it is open or closed. */
function attack(given: Attack, i: number): Promise<void> {
  const { request, sends, reads } = given;
  const socket = connectAs(given, i);
  return new Promise((resolve) => {
    socket.once(request === '' ? 'connect' : 'secureConnect', () => {
      mostOpen = Math.max(mostOpen, ++open);
      socket.once('close', () => open--);
      if (reads) socket.resume();
      if (request !== '') send(socket, request, sends);
      resolve();
    });
    socket.on('close', () => {
      resolve();
      setTimeout(() => void attack(given, i), sends === 'endlessly' ? 0 : REOPEN_MS);
    });
  });
}

function send(socket: Socket, request: string, sends: Attack['sends']): void {
  if (sends === 'slowly') {
    let sent = 0;
    const timer = setInterval(() => socket.write(request.charAt(sent++)), 1000);
    socket.on('close', () => {
      clearInterval(timer);
    });
    return;
  }
  const again = () => {
    do if (socket.destroyed) return;
    while (socket.write(request) && sends === 'endlessly');
  };
  if (sends === 'when answered') socket.on('data', again);
  // A proxy closes a connection after its number of requests.
  if (sends === 'endlessly') void allWereOpen.promise.then(() => socket.on('drain', again)).then(again);
  else again();
}

process.on('message', (given: Attack) => {
  // The machine of a test is also that of the proxy.
  setPriority(19);
  void openAll(given);
});

async function openAll(given: Attack): Promise<void> {
  const { connections, newPerSecond = 0 } = given;
  let next = 0;
  const opener = async () => {
    while (next < connections) await attack(given, next++);
  };
  await Promise.all(Array.from({ length: OPENING }, opener));
  allWereOpen.resolve(undefined);
  process.send?.(mostOpen);
  for (let i = 0; newPerSecond > 0; i++) {
    const socket = connectAs(given, connections + (i % 2) * given.ofAddress);
    socket.once('secureConnect', () => socket.write(given.request));
    socket.once('data', () => socket.destroy());
    await delay(1000 / newPerSecond);
  }
}
