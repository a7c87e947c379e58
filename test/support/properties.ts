import { setEnvironmentData } from 'node:worker_threads';
import fc from 'fast-check';

// The key of the hashes of texts, which is random otherwise. It is that of the vectors of HalfSipHash.
setEnvironmentData('foyer hash key', Uint32Array.of(0x03020100, 0x07060504));

/**
 * Lets properties generate texts and lists up to their `maxLength`. Otherwise fast-check stops at 10 elements. A failed
 * property reports the error of its smallest case, since mocha does not print the cause of an error.
 * Mocha loads this file before the tests (.mocharc.json).
 */
fc.configureGlobal({ includeErrorInReport: true, defaultSizeToMaxWhenMaxSpecified: true });
