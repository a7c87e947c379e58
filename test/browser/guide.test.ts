import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { needs } from '../support/components.ts';
import { givenSite } from '../support/site.ts';
import { accessibilityViolations, excessWidth, givenBrowser, type VisitOptions } from './support/browser.ts';

const OUTPUT = { encoding: 'utf8', maxBuffer: 2 ** 26 } as const;

describe('The guide', () => {
  needs('curl');
  const given = givenSite();
  const chromium = givenBrowser();

  const visit = (options: VisitOptions, use: (page: Page) => Promise<void>, fragment = '') =>
    chromium.visit({ url: `${given.site.replica.origin}/docs/guide${fragment}`, ...options }, use);

  it('has commands that run as they are copied, with the key of the tab, whose secret it hides', () => {
    const { replica, credential, inFolder } = given.site;
    const permissions = ['clipboard-read', 'clipboard-write'];
    return visit(
      { permissions },
      async (page) => {
        expect(page.url()).to.equal(`${replica.origin}/docs/guide`);
        const blocks = await page.locator('pre', { hasText: 'Copy with the key' }).all();
        expect(blocks).to.have.length.above(10);
        for (const block of blocks) {
          await block.getByRole('button').click();
          await block.getByText('Copied').waitFor();
          const command = await page.evaluate<string>('navigator.clipboard.readText()');
          expect(command).to.include(replica.origin).and.include(credential);
          // Some write a file.
          const { status, stdout } = spawnSync('sh', ['-c', command], { cwd: inFolder(''), ...OUTPUT });
          expect(status).to.equal(0);
          expect(stdout).to.match(/^($|HTTP\/1.1 (200|400) |\{"change":)/);
        }
        expect(await page.content()).not.to.include(credential.split(':').at(-1));
      },
      `#key=${credential}`,
    );
  });

  it('has the address of the service, and the name of the key without one', () =>
    visit({}, async (page) => {
      const command = page.locator('pre', { hasText: '/v1/events?perPage=1' }).first();
      expect(await command.innerText()).to.include(
        `"Authorization: Bearer $FOYER_KEY" "${given.site.replica.origin}/v1/events?perPage=1"`,
      );
      expect(await command.getByRole('button').innerText()).to.equal('Copy');
    }));

  it('is reached from the documentation with the key, and leads to a section by keyboard', () =>
    visit({}, async (page) => {
      await page.goto(`${given.site.replica.origin}/docs#key=${given.site.credential}`);
      await page.locator('#key-state.good').waitFor();
      await page.getByRole('link', { name: 'Guide', exact: true }).press('Enter');
      await page.getByRole('button', { name: 'Copy with the key' }).first().waitFor();
      await page.getByRole('link', { name: 'Incremental sync' }).first().press('Enter');
      expect(new URL(page.url()).hash).to.equal('#incremental-sync');
      await page.locator('h2:target').waitFor();
    }));

  it('can be read without scripts', () =>
    visit({ javaScriptEnabled: false }, async (page) => {
      await page.getByRole('heading', { name: 'Incremental sync' }).waitFor();
      expect(await page.getByText('The examples have the address').isVisible()).to.equal(false);
      expect(await page.getByRole('button').count()).to.equal(0);
    }));

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`has no serious violation of accessibility rules, and fits a phone: ${colorScheme}`, () =>
      visit({ colorScheme }, async (page) => {
        for (const width of [1440, 390, 360]) {
          await page.setViewportSize({ width, height: 800 });
          expect(await excessWidth(page)).to.equal(0);
          expect(await accessibilityViolations(page)).to.deep.equal([]);
        }
      }));
  }
});
