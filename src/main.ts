import { enableCache } from './compile-cache.ts';

/** The program of a replica. It enables the compile cache before it imports everything else. */

enableCache();
await import('./serve.ts');
