import { enableCache } from '../src/compile-cache.ts';

/** Runs the demo. The compile cache must be enabled before the other modules are imported. */

enableCache();
await import('./demo/run-demo.ts');
