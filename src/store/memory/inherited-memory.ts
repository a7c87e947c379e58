import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import type { Uint32s } from './shared-arrays.ts';

/** Returns the array of a name in this process: that of the thread which started this one, or a new one for its threads. */
export function inheritedMemory(name: string, make: () => Uint32s): Uint32s {
  const inherited: unknown = getEnvironmentData(name);
  if (inherited instanceof Uint32Array) return inherited;
  const own = make();
  setEnvironmentData(name, own);
  return own;
}
