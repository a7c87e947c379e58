import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { createLog } from '../src/log.ts';

/** Two threads write lines to one standard output at the same time; then the process ends in the way asked for. */

const [end = 'quietly', count = '2000', ...destinations] = process.argv.slice(2);
const { log } = createLog('info', destinations.at(0));

function writeLines(thread: string): void {
  for (let n = 0; n < Number(count); n++) log.info({ thread, n, text: 'é'.repeat(n % 100) }, 'line');
}

if (isMainThread) {
  const other = new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) });
  other.on('message', () => {
    writeLines('main');
  });
  other.on('exit', () => {
    log.warn({ thread: 'main', n: Number(count) }, 'last');
    if (end === 'exit') process.exit(3);
    if (end === 'error') throw new Error('on purpose');
  });
} else {
  parentPort?.postMessage('ready');
  writeLines('other');
}
