import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Stage } from '../bench-context.ts';
import { median, type Row, rowOf, show } from '../figures.ts';
import { askOnce } from '../load/http-client.ts';
import { ProbedProcess } from '../servers/child.ts';

const DEMO = new URL('../../demo.ts', import.meta.url);
const PAGE = { path: '/v1/tickets' };
const ASK_AGAIN_MS = 2;

interface Start {
  readonly seconds: number;
  /** Of all its threads. */
  readonly processorSeconds: number;
}

/** From the start of the demo, which was started before, to its first answer. */
export async function measureStart(stage: Stage): Promise<Row[]> {
  const { rounds } = stage.sizes;
  const folder = mkdtempSync(join(stage.folder, 'demo-'));
  mkdirSync(join(folder, 'snapshots'));
  stage.show('start: making the sample of the demo');
  await startDemo(stage, folder);
  const measured: Start[] = [];
  for (let round = 1; round <= rounds; round++) {
    stage.show(`start: round ${round} of ${rounds}`);
    measured.push(await startDemo(stage, folder));
  }
  const processor = median(measured.map(({ processorSeconds }) => processorSeconds));
  return [
    rowOf({
      name: 'start of the demo until its first answer',
      note:
        'by the clock, from the start of Node to 200 on a page of tickets; snapshot and key present; ' +
        `it used ${show(processor, 's')} of processors for it`,
      unit: 's',
      reach: { atMost: 1 },
      rounds: measured.map(({ seconds }) => seconds),
      sumUp: median,
    }),
  ];
}

/** Starts it, and stops it at its first answer. */
async function startDemo({ signal }: Stage, folder: string): Promise<Start> {
  const [port, adminPort] = await freePorts();
  const keysFile = join(folder, 'keys.sqlite');
  const beganAt = performance.now();
  await using demo = new ProbedProcess(DEMO, signal, {
    output: join(folder, 'output'),
    environment: {
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      SNAPSHOT_DIR: join(folder, 'snapshots'),
      KEYS_FILE: keysFile,
    },
  });
  const answered = async (): Promise<number> => {
    for (;;) {
      const status = await askOnce(port, credentialOf(keysFile), PAGE).then(
        (answer) => answer.status,
        // It does not listen yet.
        () => 0,
      );
      if (status === 200) return (performance.now() - beganAt) / 1000;
      await pause(ASK_AGAIN_MS, undefined, { signal: demo.over });
    }
  };
  const seconds = await demo.expect(answered());
  return { seconds, processorSeconds: (await demo.probe()).processorMs / 1000 };
}

/** The demo keeps its credential beside the keys; before its first start there is none. */
function credentialOf(keysFile: string): string {
  try {
    return readFileSync(`${keysFile}.demo-credential`, 'utf8').trim();
  } catch {
    return '';
  }
}

/** Two ports that nobody listens on: the demo says only when it is through which it took. */
async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()];
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
  const [port, adminPort] = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) await once(server.close(), 'close');
  return [port, adminPort];
}
