import { join } from 'node:path';
import { writeHeapSnapshot } from 'node:v8';
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads';

/**
 * Dumps a process on SIGUSR2 when preloaded into it: the heap of each thread, after a garbage collection, and a
 * diagnostic report. The files are in the folder DUMP_FOLDER. Each thread reports its dump on standard output.
 */
export const DUMP_SIGNAL = 'SIGUSR2';
export const dumpedBy = (thread: number): string => `dumped by thread ${thread}`;
export const heapFile = (thread: number): string => `${thread}.heapsnapshot`;
export const REPORT_FILE = 'report.json';

function dumpOnSignal(folder: string): void {
  const dump = () => {
    writeHeapSnapshot(join(folder, heapFile(threadId)));
    process.stdout.write(`${dumpedBy(threadId)}\n`);
  };
  const channel = new BroadcastChannel('memory dump');
  channel.onmessage = dump;
  channel.unref();
  if (!isMainThread) return;
  process.on(DUMP_SIGNAL, () => {
    channel.postMessage('dump');
    process.report.writeReport(join(folder, REPORT_FILE));
    dump();
  });
}

const folder = process.env['DUMP_FOLDER'];
if (folder !== undefined) dumpOnSignal(folder);
