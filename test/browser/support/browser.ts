import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import { expect } from 'chai';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from '../../../scripts/launch-chromium.ts';

const AXE_SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A Chromium for all tests of the calling suite. Each page of it must end without a fault. */
class TestBrowser {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async launch(): Promise<TestBrowser> {
    return new TestBrowser(await launchChromium());
  }

  /**
   * Opens a URL in a browser context of its own, and closes it after `use`. Fails on faults of the page.
   * @param expected console errors that the test provokes, such as those of a 404
   */
  async visit<T>(
    url: string,
    use: (page: Page) => Promise<T>,
    options: BrowserContextOptions = {},
    expected: readonly RegExp[] = [],
  ): Promise<T> {
    const context = await this.#browser.newContext(options);
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
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
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

/** Returns the serious and critical violations of accessibility rules on a page, each with its elements. */
export async function accessibilityViolations(page: Page, options: RunOptions = {}): Promise<string[]> {
  // Evaluated by the browser's debugger, which the policy of the page does not restrict.
  await page.evaluate(AXE_SOURCE);
  const { violations } = await page.evaluate(
    (runOptions) =>
      (globalThis as unknown as { axe: { run(options: RunOptions): Promise<AxeResults> } }).axe.run(
        runOptions,
      ),
    // Loading style sheets anew would violate the policy of the page.
    { preload: false, ...options },
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary ?? ''}`),
    );
}

/** Provides a browser for the tests of the calling suite. */
export function givenBrowser(): { readonly browser: TestBrowser } {
  let browser: TestBrowser | undefined;
  before(async () => {
    browser = await TestBrowser.launch();
  });
  after(async () => {
    await browser?.close();
  });
  return {
    get browser() {
      if (browser === undefined) throw new Error('not launched yet');
      return browser;
    },
  };
}
