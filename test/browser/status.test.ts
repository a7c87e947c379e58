import { expect } from 'chai';
import { accessibilityViolations, givenBrowser } from './support/browser.ts';
import { givenSite } from './support/site.ts';

describe('The status page', () => {
  const given = givenSite();
  const chromium = givenBrowser();

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`has no serious violation of accessibility rules: ${colorScheme}`, async () => {
      const { replica } = given.site;
      await chromium.browser.visit(
        `http://127.0.0.1:${replica.adminPort}/`,
        async (page) => {
          expect(await accessibilityViolations(page)).to.deep.equal([]);
        },
        { colorScheme },
      );
    });
  }
});
