import { cacheCompiledCode } from './cache-compiled-code.ts';

/** The process. All that it is made of is imported when that has become cheap. */

cacheCompiledCode();
await import('./serve.ts');
