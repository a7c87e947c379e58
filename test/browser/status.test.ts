import { renameSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { makeDemoSnapshot } from '../../scripts/demo/make-demo-snapshot.ts';
import { REFUSALS } from '../../src/snapshot/format/refused-snapshot.ts';
import { inspectSnapshot } from '../../src/snapshot/format/open-snapshot.ts';
import { freePort } from '../support/free-port.ts';
import { ReplicaUnderTest } from '../support/replica-under-test.ts';
import { givenSite } from '../support/site.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { accessibilityViolations, excessWidth, givenBrowser } from './support/browser.ts';

/** Waits until the page shows a text. */
async function waitForText(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).first().waitFor();
}

describe('The status page', () => {
  const given = givenSite();
  const chromium = givenBrowser();
  const url = () => `http://127.0.0.1:${given.site.replica.adminPort}/`;

  // The first interval of the history, which begins with the process, has these requests.
  before(async () => {
    const { replica, credential } = given.site;
    await replica.request('/v1/events', credential);
    await replica.request('/v1/events?page=0', credential);
  });

  it('shows a new snapshot when it goes live, without a reload', async () => {
    const { inFolder } = given.site;
    const live = inFolder('snapshots/demo.sqlite');
    const next = inFolder('next.sqlite');
    await makeDemoSnapshot(next);
    const before = inspectSnapshot(live).snapshotId;
    const after = inspectSnapshot(next).snapshotId;
    await chromium.visit({ url: url() }, async (page) => {
      await page.getByRole('heading', { name: 'Ready', exact: true }).waitFor();
      await waitForText(page, before);
      renameSync(next, live);
      await waitForText(page, after);
      const loads = page.getByRole('region', { name: 'Table of loads' }).getByRole('row');
      expect(await loads.filter({ hasText: 'live' }).count()).to.equal(2);
    });
  });

  it('shows a refused file with its reason and advice', async () => {
    const { inFolder, replica } = given.site;
    await chromium.visit({ url: url() }, async (page) => {
      await page.getByRole('heading', { name: 'Ready', exact: true }).waitFor();
      writeFileSync(inFolder('snapshots/festival.sqlite'), 'not a database, but a text of some length');
      await replica.waitForLog({ msg: 'snapshot refused' });
      await page.getByRole('heading', { name: 'festival.sqlite was refused: not-sqlite' }).waitFor();
      await waitForText(page, REFUSALS['not-sqlite']);
      await page.getByRole('link', { name: '1 snapshot file was refused.' }).waitFor();
    });
  });

  it('shows what its feed reports, and that a live file was removed', async () => {
    const { inFolder } = given.site;
    const [publishedAt, failedAt] = ['2026-11-28T09:11:00Z', '2026-11-28T09:12:00Z'];
    const report = (content: object) => {
      writeFileSync(inFolder('draft'), JSON.stringify({ startedAt: failedAt, publishedAt, ...content }));
      renameSync(inFolder('draft'), inFolder('snapshots/demo.feed.json'));
    };
    await chromium.visit({ url: url() }, async (page) => {
      report({});
      await waitForText(page, /^Feed of demo.sqlite: has run since 28 Nov 2026/);
      const heldBack = [{ organizationId: 'north', reason: 'events.ndjson:12: eventTimezone' }];
      report({ endedAt: failedAt, failedAt, failure: 'the export failed', heldBack });
      await page.getByRole('heading', { name: /^The feed of demo.sqlite failed at 28 Nov 2026/ }).waitFor();
      await waitForText(page, 'the export failed');
      await waitForText(page, 'north: events.ndjson:12: eventTimezone');
      await waitForText(page, /^Feed of demo.sqlite: published at 28 Nov 2026/);
      expect(await accessibilityViolations(page)).to.deep.equal([]);
      report({ endedAt: failedAt, pausedAt: failedAt });
      await waitForText(page, /^paused since 28 Nov 2026/);
      renameSync(inFolder('snapshots/demo.sqlite'), inFolder('demo.sqlite'));
      await waitForText(page, 'file removed: a restart would be an outage');
      renameSync(inFolder('demo.sqlite'), inFolder('snapshots/demo.sqlite'));
      await page.getByText('file removed: a restart would be an outage').waitFor({ state: 'detached' });
    });
  });

  it('draws the requests of the last hour, and lists them as a table', async () => {
    await chromium.visit({ url: url() }, async (page) => {
      const legend = page.locator('#chart-requests li');
      await legend.filter({ hasText: /requests a second\s+\d.*\/s/ }).waitFor();
      await page.getByText('The same as a table').click();
      const table = page.getByRole('region', { name: 'Table of requests' });
      await table.getByRole('row').nth(1).waitFor();
      expect(await table.getByRole('columnheader').allTextContents()).to.include.members([
        'p50',
        'p99',
        '5xx',
      ]);
    });
  });

  it('finds an organization by a part of its id', async () => {
    const [{ organizationId }, ...others] = inspectSnapshot(
      given.site.inFolder('snapshots/demo.sqlite'),
    ).organizations;
    await chromium.visit({ url: url() }, async (page) => {
      const rows = page.getByRole('region', { name: 'Table of organizations' }).locator('tbody tr');
      const search = page.getByRole('searchbox', { name: 'Search organizations' });
      await rows.first().waitFor();
      expect(await rows.count()).to.equal(others.length + 1);
      await search.fill(organizationId.toUpperCase());
      await waitForText(page, '1 found');
      const [found, ...more] = await rows.allTextContents();
      expect(found).to.include(organizationId);
      expect(more).to.deep.equal([]);
      await search.fill('none of them');
      await waitForText(page, 'Nothing contains “none of them”.');
    });
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1280, 390]) {
      it(`fits its window, and has no serious violation of accessibility rules: ${colorScheme}, ${width} wide`, () =>
        chromium.visit({ url: url(), colorScheme, viewport: { width, height: 800 } }, async (page) => {
          await page.getByRole('heading', { name: 'Keys' }).waitFor();
          await page.locator('#chart-requests canvas').waitFor();
          expect(await excessWidth(page)).to.equal(0);
          expect(await accessibilityViolations(page)).to.deep.equal([]);
        }));
    }
  }
});

describe('The status page of a replica without data', () => {
  const inFolder = folderForAll();
  const chromium = givenBrowser();

  it('tells how to create data and keys, that the replica does not respond, and that it responds again', async () => {
    const environment = { ADMIN_PORT: String(await freePort()) };
    let replica = await ReplicaUnderTest.start(inFolder, environment);
    try {
      const url = `http://127.0.0.1:${replica.adminPort}/`;
      await chromium.visit({ url, expected: [/^Failed to load resource: net::ERR_/] }, async (page) => {
        await page.getByRole('heading', { name: 'Not ready' }).waitFor();
        await waitForText(page, 'npm run snapshot -- publish FILE');
        await waitForText(page, 'npm run keys -- create --organization ID');
        expect(await accessibilityViolations(page)).to.deep.equal([]);
        await replica.end();
        await page.getByRole('heading', { name: /^No response since \d\d:\d\d:\d\d$/ }).waitFor();
        await waitForText(page, 'the figures below are the last ones received');
        replica = await ReplicaUnderTest.start(inFolder, environment);
        await page.getByRole('heading', { name: 'Not ready' }).waitFor();
      });
    } finally {
      await replica.end();
    }
  });
});
