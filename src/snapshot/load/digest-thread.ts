import { workerData } from 'node:worker_threads';
import { digestChecks } from './check-digests.ts';

const { path, next } = workerData as { readonly path: string; readonly next: Int32Array };

Array.from(digestChecks(path, next));
