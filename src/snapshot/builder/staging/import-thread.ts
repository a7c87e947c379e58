import { parentPort, workerData } from 'node:worker_threads';
import { ImportReader, type ImportTask, type ReaderData } from './import-threads.ts';

const reader = new ImportReader(workerData as ReaderData);

parentPort?.on('message', (task: ImportTask) => {
  parentPort?.postMessage(reader.run(task));
});
