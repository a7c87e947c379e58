import { enableCache } from './compile-cache.ts';

/** The program of a replica. It imports all else with the compile cache enabled. */

enableCache();
await import('./serve.ts');
