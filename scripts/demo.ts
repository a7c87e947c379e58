import { enableCache } from '../src/compile-cache.ts';

/** `npm run demo`, the rest of which is imported when that has become cheap. */

enableCache();
await import('./run-demo.ts');
