/** The paths that need no key, have no version, and return no data. A configuration serves some of them. */
export const PUBLIC_PATHS = {
  index: '/',
  health: '/healthz',
  openApi: '/openapi.json',
  docs: '/docs',
  explorer: '/explorer',
} as const;

export type PublicPathName = keyof typeof PUBLIC_PATHS;
