/** Whether the long counts run. Set by `npm run test:deep`. */
const isDeep = process.env['TEST_DEPTH'] === 'deep';

/** Returns the count for this run: the short one in `npm test`, the long one in `npm run test:deep`. */
export function byDepth(counts: { readonly short: number; readonly deep: number }): number {
  return isDeep ? counts.deep : counts.short;
}

/** Declares a test for `npm run test:deep` alone. `npm test` does not list it. */
export function itDeep(title: string, test: Mocha.AsyncFunc): void {
  if (isDeep) it(title, test);
}
