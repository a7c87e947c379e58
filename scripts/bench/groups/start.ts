import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from '../bench-context.ts';
import { format, median, type Row, rowOf } from '../figures.ts';
import { sendRequest } from '../load/http-client.ts';
import { ProbedProcess } from '../servers/child.ts';

const DEMO = new URL('../../demo.ts', import.meta.url);
const PAGE = { path: '/v1/tickets' };
const RETRY_MS = 2;

interface Start {
  readonly seconds: number;
  /** Processor time of all threads. */
  readonly processorSeconds: number;
}

/** Measures the start of the demo, with snapshot and key present, until its first response. */
export async function measureStart(context: BenchContext): Promise<Row[]> {
  const { rounds } = context.sizes;
  const folder = mkdtempSync(join(context.folder, 'demo-'));
  mkdirSync(join(folder, 'snapshots'));
  context.showProgress('start: building the sample of the demo');
  await startDemo(context, folder);
  const measured: Start[] = [];
  for (let round = 1; round <= rounds; round++) {
    context.showProgress(`start: round ${round} of ${rounds}`);
    measured.push(await startDemo(context, folder));
  }
  const processor = median(measured.map(({ processorSeconds }) => processorSeconds));
  return [
    rowOf({
      name: 'start of the demo until its first response',
      note:
        'by the clock, from the start of Node to 200 for a page of tickets; snapshot and key present; ' +
        `processor time ${format(processor, 's')}`,
      unit: 's',
      reach: { atMost: 1 },
      rounds: measured.map(({ seconds }) => seconds),
      summarize: median,
    }),
  ];
}

/** Starts the demo, and stops it at its first response. */
async function startDemo({ signal }: BenchContext, folder: string): Promise<Start> {
  const [port, adminPort] = await freePorts();
  const keysFile = join(folder, 'keys.sqlite');
  const startedAt = performance.now();
  await using demo = new ProbedProcess(DEMO, signal, {
    output: join(folder, 'output'),
    environment: {
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      SNAPSHOT_DIR: join(folder, 'snapshots'),
      KEYS_FILE: keysFile,
    },
  });
  const untilResponse = async (): Promise<number> => {
    for (;;) {
      const status = await sendRequest(port, credentialOf(keysFile), PAGE).then(
        (response) => response.status,
        // The demo does not listen yet.
        () => 0,
      );
      if (status === 200) return (performance.now() - startedAt) / 1000;
      await pause(RETRY_MS, undefined, { signal: demo.ended });
    }
  };
  const seconds = await demo.waitFor(untilResponse());
  return { seconds, processorSeconds: (await demo.probe()).processorMs / 1000 };
}

/** Reads the demo's credential from its file beside the keys; empty before the first start. */
function credentialOf(keysFile: string): string {
  try {
    return readFileSync(`${keysFile}.demo-credential`, 'utf8').trim();
  } catch {
    return '';
  }
}

/** Returns two free ports: the demo prints the ports that the system chose only at the end of its start. */
async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()];
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
  const [port, adminPort] = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) await once(server.close(), 'close');
  return [port, adminPort];
}
