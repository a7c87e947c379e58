/**
 * Configures Stryker (https://stryker-mutator.io), which changes the code in one place at a time and runs the tests.
 * docs/reliability.md has the results.
 */
export default {
  mutate: ['src/query/**/*.ts', 'src/store/index/**/*.ts', 'src/http/checks/**/*.ts'],
  testRunner: 'tap',
  plugins: ['@stryker-mutator/tap-runner'],
  tap: {
    testFiles: ['test/{api,contract,keys,query,store}/**/*.test.ts', 'test/http/{checks,response}/*.test.ts'],
    // Each test file runs in a process of its own: scratch space and caches that a mutant has filled with wrong content
    // must not reach the next one. (The runner for mocha shares a process, and does not load mocha 12.)
    nodeArgs: [
      '--disable-warning=ExperimentalWarning',
      'node_modules/mocha/bin/mocha.js',
      '--no-config',
      '--require=./test/mutation/bounded-properties.ts',
      '--timeout=60000',
      '--reporter=tap',
      '--bail',
      '--exit',
    ],
  },
  coverageAnalysis: 'perTest',
  // Node runs the instrumented TypeScript as it is.
  checkers: [],
  disableTypeChecks: false,
  ignorePatterns: ['coverage', 'data/*.sqlite', 'data/demo', 'data/snapshots', 'tsconfig.json'],
  tempDirName: 'coverage/mutation',
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { allowColor: false, allowEmojis: false, reportTests: false },
  concurrency: 1,
};
