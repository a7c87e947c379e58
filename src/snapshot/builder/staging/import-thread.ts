import { parentPort, workerData } from 'node:worker_threads';
import { BlockReader, type ImportTask, type ReaderData } from './import-threads.ts';

const reader = new BlockReader(workerData as ReaderData);

parentPort?.on('message', (task: ImportTask) => {
  parentPort?.postMessage(reader.run(task));
});
