import { constants, enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/** The cache contains executable code. So it is in the folder of the dependencies, which only the installer needs to write. */
export const COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url));

/**
 * Enables Node's compile cache, in new threads too. A start without it takes 1.4 times the processor time.
 * Has no effect when the folder cannot be written.
 */
export function enableCache(): void {
  const { status } = enableCompileCache(COMPILE_CACHE);
  // New threads read the variable.
  if (status === constants.compileCacheStatus.ENABLED) process.env['NODE_COMPILE_CACHE'] = COMPILE_CACHE;
}
