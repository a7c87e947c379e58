import type { StoreRegistry } from '../store/store-registry.ts';

/** Bytes of memory that is kept for walks alone: what is retained has other content than what is live. */
export function retainedBytes({ retained }: StoreRegistry): number {
  return retained.reduce((sum, { store }) => sum + store.bytesHeld, 0);
}
