import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from '../bench-context.ts';
import { format, median, type Row, rowOf } from '../rows.ts';
import { ServerProcess } from '../servers/processes.ts';

const DEMO = new URL('../../demo.ts', import.meta.url);
const POLL_MS = 2;
/** The last line of the demo's output. */
const STARTED = 'Press Ctrl-C to stop.';

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
        'by the clock, from the start of Node to the addresses; snapshot and key present; ' +
        `processor time ${format(median(starts.map(({ processorSeconds }) => processorSeconds)), 's')}`,
      unit: 's',
      reach: { atMost: 1 },
      rounds: starts.map(({ seconds }) => seconds),
    }),
  ];
}

/** Starts the demo, and stops it when it has printed its addresses, for which it requests a page of tickets. */
async function startDemo(signal: AbortSignal, folder: string) {
  const output = join(mkdtempSync(join(folder, 'start-')), 'output');
  const startedAt = performance.now();
  await using demo = new ServerProcess(DEMO, {
    signal,
    credential: '',
    output,
    environment: {
      // As `npm run demo` sets it.
      NODE_COMPILE_CACHE: 'node_modules/.cache/compiled',
      PORT: '0',
      ADMIN_PORT: '0',
      SNAPSHOT_DIR: join(folder, 'snapshots'),
      KEYS_FILE: join(folder, 'keys.sqlite'),
    },
  });
  while (!readFileSync(output, 'utf8').includes(STARTED)) await demo.waitFor(pause(POLL_MS));
  const seconds = (performance.now() - startedAt) / 1000;
  return { seconds, processorSeconds: (await demo.probe()).processorMs / 1000 };
}
