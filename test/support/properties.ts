import fc from 'fast-check';

/**
 * Lets properties generate texts and lists up to their `maxLength`. Otherwise fast-check stops at 10 elements.
 * Mocha loads this file before the tests (.mocharc.json).
 */
fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true });
