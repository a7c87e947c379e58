import type { Page } from 'playwright-core';
import { givenSite } from '../../support/site.ts';
import { givenBrowser, goTo, type VisitOptions } from './browser.ts';

/** Provides a site with the explorer, and a browser for it, for the tests of the calling suite. */
export function givenExplorer() {
  const given = givenSite({ EXPLORER: 'on', RATE_LIMIT_PER_MINUTE: '0' });
  const chromium = givenBrowser();
  const address = () => `${given.site.replica.origin}/explorer`;

  /** Returns the lines of a list by the API. */
  async function linesOf(path: string): Promise<string> {
    const { replica, credential } = given.site;
    const versioned = { Accept: 'application/x-ndjson', 'Service-API-Version': 'preview' };
    const headers = { Authorization: `Bearer ${credential}`, ...versioned };
    return (await fetch(replica.origin + path, { headers })).text();
  }

  /** Returns the records of a list by the API. */
  async function recordsOf<R>(path: string): Promise<R[]> {
    const lines = (await linesOf(path)).trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as R);
  }

  return {
    get site() {
      return given.site;
    },

    /** Opens the explorer without a key. */
    visit: (options: VisitOptions, use: (page: Page) => Promise<void>) =>
      chromium.visit({ url: address(), ...options }, use),

    /** Opens a place, signed in by the key in the address. */
    explore: ({ place, ...options }: VisitOptions & { place: string }, use: (page: Page) => Promise<void>) =>
      chromium.visit({ url: `${address()}#key=${given.site.credential}`, ...options }, async (page) => {
        await page.locator('.top').waitFor();
        await goTo(page, place);
        await use(page);
      }),

    linesOf,
    recordsOf,
  };
}

/** Returns the target of the request that a page shows. */
export function targetOf(page: Page): Promise<string | null> {
  return page.locator('.request-bar .target').textContent();
}
