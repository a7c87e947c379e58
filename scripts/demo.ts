import { cacheCompiledCode } from '../src/cache-compiled-code.ts';

/** `npm run demo`, the rest of which is imported when that has become cheap. */

cacheCompiledCode();
await import('./run-demo.ts');
