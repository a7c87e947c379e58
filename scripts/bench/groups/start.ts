import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from '../bench-context.ts';
import { sendRequest } from '../load/traffic.ts';
import { format, median, type Row, rowOf } from '../rows.ts';
import { ServerProcess } from '../servers/processes.ts';

const DEMO = new URL('../../demo.ts', import.meta.url);
const RETRY_MS = 2;

/** Measures the start of the demo, with snapshot and key present, until its first response. */
export async function measureStart(context: BenchContext): Promise<Row[]> {
  const folder = mkdtempSync(join(context.options.folder, 'demo-'));
  mkdirSync(join(folder, 'snapshots'));
  // The warm-up creates snapshot and key.
  const starts = await context.rounds('start', () => startDemo(context.options.signal, folder));
  return [
    rowOf({
      name: 'start of the demo until its first response',
      note:
        'by the clock, from the start of Node to 200 for a page of tickets; snapshot and key present; ' +
        `processor time ${format(median(starts.map(({ processorSeconds }) => processorSeconds)), 's')}`,
      unit: 's',
      reach: { atMost: 1 },
      rounds: starts.map(({ seconds }) => seconds),
    }),
  ];
}

/** Starts the demo, and stops it at its first response. */
async function startDemo(signal: AbortSignal, folder: string) {
  // The demo prints ports that the system chooses only at the end of its start.
  const [port, adminPort] = [await freePort(), await freePort()];
  const keysFile = join(folder, 'keys.sqlite');
  const startedAt = performance.now();
  await using demo = new ServerProcess(DEMO, {
    signal,
    credential: '',
    output: join(folder, 'output'),
    environment: {
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      SNAPSHOT_DIR: join(folder, 'snapshots'),
      KEYS_FILE: keysFile,
    },
  });
  const isAnswered = async () => {
    try {
      const credential = readFileSync(`${keysFile}.demo-credential`, 'utf8').trim();
      return (await sendRequest({ port, credential }, { path: '/v1/tickets' })).status === 200;
    } catch {
      // There is no key yet, or the demo does not listen yet.
      return false;
    }
  };
  while (!(await isAnswered())) await demo.waitFor(pause(RETRY_MS));
  const seconds = (performance.now() - startedAt) / 1000;
  return { seconds, processorSeconds: (await demo.probe()).processorMs / 1000 };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await once(server.close(), 'close');
  return port;
}
