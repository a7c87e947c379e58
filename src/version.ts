import { readFileSync } from 'node:fs';

const PACKAGE = new URL('../package.json', import.meta.url);

/** Version of the product. */
export const { version: VERSION } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { readonly version: string };
