import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import { expect } from 'chai';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from '../../../scripts/launch-chromium.ts';

const AXE_SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The options of a browser context, and the console errors that the test provokes, such as those of a 404. */
export interface VisitOptions extends BrowserContextOptions {
  readonly expected?: readonly RegExp[];
}

/** Provides a Chromium for the tests of the calling suite. */
export function givenBrowser() {
  let browser: Browser | undefined;
  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser?.close());
  return {
    /** Opens a URL in a context of its own, and closes it after `use`. Fails on faults of the page. */
    async visit<T>(
      { url, expected = [], ...options }: VisitOptions & { url: string },
      use: (page: Page) => Promise<T>,
    ): Promise<T> {
      if (browser === undefined) throw new Error('not launched yet');
      const context = await browser.newContext(options);
      try {
        const page = await context.newPage();
        const faults = faultsOf(page, new URL(url).origin);
        await page.goto(url);
        const result = await use(page);
        expect(faults.filter((fault) => !expected.some((pattern) => pattern.test(fault)))).to.deep.equal([]);
        return result;
      } finally {
        await context.close();
      }
    },
  };
}

/** Collects console errors, which include violations of the policy, uncaught errors, and requests to other origins. */
function faultsOf(page: Page, origin: string): string[] {
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url)) faults.push(`request to ${url}`);
  });
  return faults;
}

/** The console error with which Chromium reports a response of a status. */
export function statusError(status: number): RegExp {
  return new RegExp(`^Failed to load resource: the server responded with a status of ${status} `);
}

/** Returns the serious and critical violations of accessibility rules on a page, each with its elements. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  // Evaluated by the browser's debugger, which the policy of the page does not restrict.
  await page.evaluate(AXE_SOURCE);
  // Loading style sheets again would violate the policy of the page.
  const options: RunOptions = { preload: false };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(options)})`);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary ?? ''}`),
    );
}

/** Returns how much wider than its window a page is, in pixels. */
export function excessWidth(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
}

/** Goes to a place of the explorer, and waits until it has all that it asked for. */
export async function goTo(page: Page, place: string): Promise<void> {
  // The explorer hears of the new place first, and shows that it loads.
  await page.evaluate(
    `new Promise((resolve) => {
      const place = ${JSON.stringify(place)};
      if (location.hash === place) resolve();
      addEventListener('hashchange', () => setTimeout(resolve), { once: true });
      location.hash = place;
    })`,
  );
  await page.locator('main:not(:has(.skeleton, [aria-busy="true"]))').waitFor();
}
