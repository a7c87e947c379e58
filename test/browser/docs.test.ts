import { createServer, get } from 'node:http';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { servesForEach } from '../support/serve.ts';
import { givenSite } from '../support/site.ts';
import {
  accessibilityViolations,
  excessWidth,
  givenBrowser,
  statusError,
  type VisitOptions,
} from './support/browser.ts';

/** Opens the form of an operation. */
async function opened(page: Page, operationId: string): Promise<Locator> {
  const operation = page.locator(`.opblock[id$="-${operationId}"]`);
  await operation.locator('.opblock-summary-control').click();
  return operation;
}

/** Fills the form of an operation, sends the request, and returns it with the status and body that the page shows. */
async function tryOut(page: Page, operationId: string, values: Readonly<Record<string, string>> = {}) {
  const operation = await opened(page, operationId);
  for (const [name, value] of Object.entries(values))
    await operation.locator(`tr[data-param-name="${name}"] input`).fill(value);
  const sent = page.waitForRequest((request) => new URL(request.url()).pathname.includes('/v1/'));
  await operation.locator('.execute').click();
  const request = await sent;
  const { pathname, search } = new URL(request.url());
  const response = operation.locator('.live-responses-table .response');
  return {
    target: pathname + search,
    headers: request.headers(),
    status: (await response.locator('.response-col_status').innerText()).trim(),
    text: await response.locator('.highlight-code code').innerText(),
  };
}

describe('The documentation page', () => {
  const given = givenSite();
  const chromium = givenBrowser();
  const serve = servesForEach();

  const visit = (options: VisitOptions, use: (page: Page) => Promise<void>) =>
    chromium.visit({ url: `${given.site.replica.origin}/docs`, ...options }, use);

  async function authorize(page: Page): Promise<void> {
    await page.getByLabel('API key').fill(given.site.credential);
    await page.getByRole('button', { name: 'Use key' }).click();
  }

  it('encodes lists, timestamps and ids, and sends the version header of a preview operation', () =>
    visit({ expected: [statusError(404)] }, async (page) => {
      await authorize(page);
      const values = { eventIds: 'evt_1,evt_2', 'updatedAt.gte': '2020-01-01T00:00:00+01:00' };
      const list = await tryOut(page, 'listTickets', values);
      expect(list.target).to.equal(
        '/v1/tickets?updatedAt.gte=2020-01-01T00%3A00%3A00%2B01%3A00&eventIds=evt_1,evt_2',
      );
      expect(list.headers).to.include({ authorization: `Bearer ${given.site.credential}` });
      expect(list.status).to.equal('200');
      expect(JSON.parse(list.text)).to.deep.include({ items: [] });

      const preview = await tryOut(page, 'listOffers');
      expect(preview.target).to.equal('/v1/catalog/offers');
      expect(preview.headers).to.include({ 'service-api-version': 'preview' });
      expect(JSON.parse(preview.text)).to.have.property('items').that.is.not.empty;

      const record = await tryOut(page, 'getTicket', { ticket_id: 'a/b?' });
      expect(record.target).to.equal('/v1/tickets/a%2Fb%3F');
      expect(record.status).to.equal('404');
    }));

  it('shows the lines of a long stream of changes', () =>
    visit({}, async (page) => {
      await authorize(page);
      const { target, status, text } = await tryOut(page, 'readChanges', { collections: 'tickets,orders' });
      expect(target).to.equal('/v1/changes?collections=tickets,orders');
      expect(status).to.equal('200');
      const lines = text.trim().split('\n');
      expect(lines.at(0)).to.equal('{"change":"reset"}');
      expect(lines.at(-1)).to.match(/^{"change":"end",/);
    }));

  it('keeps the key for its tab until it is forgotten, and never beyond', () =>
    visit({}, async (page) => {
      await authorize(page);
      await page.reload();
      const { headers } = await tryOut(page, 'listOrders');
      expect(headers['authorization']).to.equal(`Bearer ${given.site.credential}`);
      const inTab = () => page.evaluate('Object.values(sessionStorage)');
      expect(await inTab()).to.deep.equal([given.site.credential]);
      expect(await page.context().storageState()).to.deep.equal({ cookies: [], origins: [] });
      await page.getByRole('button', { name: 'Forget' }).click();
      expect(await inTab()).to.deep.equal([]);
    }));

  it('takes the key from the address, and shows its secret neither there nor in the page', async () => {
    const { replica, credential } = given.site;
    await chromium.visit({ url: `${replica.origin}/docs#key=${credential}` }, async (page) => {
      await page.locator('#key-state.good', { hasText: 'The key works' }).waitFor();
      await tryOut(page, 'listTickets', { perPage: '1' });
      const text = await page.locator('body').innerText();
      expect(text).to.include('Authorization: Bearer svc:o:');
      expect(text + page.url()).to.not.include(credential.split(':').at(-1));
    });
  });

  it('takes a key that comes into the address while the page is open', () =>
    visit({}, async (page) => {
      await page.locator('.opblock').first().waitFor();
      await page.evaluate(`location.hash = '#key=${given.site.credential}'`);
      await page.locator('#key-state.good', { hasText: 'The key works' }).waitFor();
      expect(page.url()).to.equal(`${given.site.replica.origin}/docs`);
    }));

  it('accepts the media type that is selected, of those of the operation', () =>
    visit({}, async (page) => {
      await authorize(page);
      const first = await tryOut(page, 'listTickets');
      expect(first.headers).to.include({ accept: 'application/json' });
      const operation = page.locator('#operations-Tickets-listTickets');
      await operation
        .getByRole('combobox', { name: 'Media Type' })
        .first()
        .selectOption('application/x-ndjson');
      const lines = page.waitForResponse(/\/v1\/tickets$/);
      await operation.locator('.execute').click();
      expect((await lines).headers()).to.include({ 'content-type': 'application/x-ndjson' });
      await operation.locator('.curl-command', { hasText: 'accept: application/x-ndjson' }).waitFor();
    }));

  for (const [name, key, status, words] of [
    ['malformed', 'nonsense', 400, 'A key has the form svc:o:ORGANIZATION:SECRET.'],
    ['unknown', 'svc:o:none:nonsense', 403, 'The API key is unknown or invalid.'],
  ] as const) {
    it(`refuses a key that is ${name}, and does not use it`, () =>
      visit({ expected: [statusError(status)] }, async (page) => {
        await page.getByLabel('API key').fill(key);
        await page.getByRole('button', { name: 'Use key' }).click();
        expect(await page.locator('#key-state.bad').innerText()).to.include(words);
        expect(await page.evaluate('sessionStorage.length')).to.equal(0);
        expect(await page.getByRole('button', { name: 'Forget' }).isVisible()).to.equal(false);
      }));
  }

  it('tells that the server cannot be reached', () =>
    visit({ expected: [/net::ERR_INTERNET_DISCONNECTED/] }, async (page) => {
      const operation = await opened(page, 'listTickets');
      await page.context().setOffline(true);
      await authorize(page);
      await page.locator('#key-state.warn', { hasText: 'The server cannot be reached' }).waitFor();
      await operation.locator('.execute').click();
      await operation.getByRole('alert').getByText('The server cannot be reached').waitFor();
      expect(await operation.getByText('Undocumented').count()).to.equal(0);
    }));

  it('works by keyboard alone', () =>
    visit({}, async (page) => {
      await page.getByLabel('API key').focus();
      await page.keyboard.type(given.site.credential);
      await page.keyboard.press('Enter');
      const operation = page.locator('#operations-Tickets-listTickets');
      await operation.locator('.opblock-summary-control').focus();
      await page.keyboard.press('Enter');
      const last = operation.locator('tr[data-param-name="If-None-Match"] input');
      await last.focus();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await operation.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
      await operation.locator('.live-responses-table .code-scroll').focus();
    }));

  it('works behind a proxy that adds a prefix, without the explorer, which is not served', async () => {
    const proxy = createServer(({ url = '', headers }, response) => {
      const target = given.site.replica.origin + url.replace(/^\/foyer/, '');
      get(target, { headers }, (answer) => {
        answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.headers));
      });
    });
    const url = `http://127.0.0.1:${await serve(proxy)}/foyer/docs`;
    await chromium.visit({ url }, async (page) => {
      await authorize(page);
      const { target, status } = await tryOut(page, 'listEvents', { perPage: '2' });
      expect(target).to.equal('/foyer/v1/events?perPage=2');
      expect(status).to.equal('200');
      expect(await page.getByRole('link', { name: 'Explorer' }).count()).to.equal(0);
    });
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`has no serious violation of accessibility rules, and fits a phone: ${colorScheme}`, () =>
      visit({ colorScheme }, async (page) => {
        await authorize(page);
        await tryOut(page, 'listOffers');
        expect(await accessibilityViolations(page)).to.deep.equal([]);
        await page.setViewportSize({ width: 360, height: 740 });
        expect(await excessWidth(page)).to.equal(0);
      }));
  }
});
