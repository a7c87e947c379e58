import { parentPort, workerData } from 'node:worker_threads';
import type { SnapshotImage } from '../store/organization-image.ts';
import { CorruptSnapshot } from './corrupt-snapshot.ts';
import { readSnapshot } from './read-snapshot.ts';

/** The loader: a thread that reads one snapshot file and ends. Its memory is shared, so that nothing is copied. */

export type LoaderAnswer = { readonly image: SnapshotImage } | { readonly refusal: string };

function load(path: string): LoaderAnswer {
  try {
    return { image: readSnapshot(path) };
  } catch (error) {
    if (error instanceof CorruptSnapshot) return { refusal: error.message };
    throw error;
  }
}

const { path } = workerData as { path: string };
parentPort?.postMessage(load(path));
