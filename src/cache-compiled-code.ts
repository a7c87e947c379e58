import { constants, enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Among the dependencies, where nobody else writes: what lies there is run. */
const FOLDER = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url));

/**
 * From now on modules are read as they were compiled at an earlier start, by threads that are started from now on, too:
 * a start takes half the time. Where the folder cannot be written, it takes as long as without.
 */
export function cacheCompiledCode(): void {
  const { status } = enableCompileCache(FOLDER);
  // Threads learn of it in this way alone.
  if (status === constants.compileCacheStatus.ENABLED) process.env['NODE_COMPILE_CACHE'] = FOLDER;
}
