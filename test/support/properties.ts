import fc from 'fast-check';

/**
 * Lets properties generate texts and lists up to their `maxLength`. Otherwise fast-check stops at 10 elements. A failed
 * property reports the error of its smallest case, since mocha does not print the cause of an error.
 * Mocha loads this file before the tests (.mocharc.json).
 */
fc.configureGlobal({ includeErrorInReport: true, defaultSizeToMaxWhenMaxSpecified: true });
