import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Locator, Page, Request } from 'playwright-core';
import { accessibilityViolations, givenBrowser } from './support/browser.ts';
import { givenSite } from '../support/site.ts';

interface Records {
  readonly items: readonly Readonly<Record<string, unknown>>[];
}

/** Opens the form of an operation. */
async function opened(page: Page, operationId: string): Promise<Locator> {
  const operation = page.locator(`.opblock[id$="-${operationId}"]`);
  await operation.locator('.opblock-summary-control').click();
  return operation;
}

/** Fills the form of an operation, sends the request, and returns it with the status and body that the page shows. */
async function tryOut(page: Page, operationId: string, values: Readonly<Record<string, string>>) {
  const operation = await opened(page, operationId);
  for (const [name, value] of Object.entries(values))
    await operation.locator(`tr[data-param-name="${name}"] input`).fill(value);
  const sent = page.waitForRequest((request) => new URL(request.url()).pathname.includes('/v1/'));
  await operation.locator('.execute').click();
  const request = await sent;
  const response = operation.locator('.live-responses-table .response');
  const status = (await response.locator('.response-col_status').innerText()).trim();
  const text = await response.locator('.highlight-code code').innerText();
  return {
    ...partsOf(request),
    status,
    text,
    get records() {
      return JSON.parse(text) as Records & Records['items'][number];
    },
  };
}

function partsOf(request: Request) {
  const { pathname, search } = new URL(request.url());
  return { target: pathname + search, headers: request.headers() };
}

describe('The documentation page', () => {
  const given = givenSite();
  const chromium = givenBrowser();

  const visit = (use: (page: Page) => Promise<void>, options = {}, expected: readonly RegExp[] = []) =>
    chromium.browser.visit(`${given.site.replica.origin}/docs`, use, options, expected);

  async function authorize(page: Page): Promise<void> {
    await page.getByLabel('API key').fill(given.site.credential);
    await page.getByRole('button', { name: 'Use key' }).click();
  }

  /** Returns two tickets of different events. */
  async function twoTickets() {
    const { replica, credential } = given.site;
    const { text } = await replica.request('/v1/tickets?perPage=100', credential);
    const [first, ...others] = (JSON.parse(text) as Records).items;
    const second = others.find(({ eventId }) => eventId !== first['eventId']);
    return [first, second ?? first];
  }

  it('sends a list as one parameter with commas, and a timestamp with an encoded offset', async () => {
    const eventIds = (await twoTickets()).map(({ eventId }) => eventId);
    await visit(async (page) => {
      await authorize(page);
      const values = { eventIds: eventIds.join(','), 'updatedAt.gte': '2020-01-01T00:00:00+01:00' };
      const { target, headers, status, records } = await tryOut(page, 'listTickets', values);
      expect(target).to.equal(
        `/v1/tickets?updatedAt.gte=2020-01-01T00%3A00%3A00%2B01%3A00&eventIds=${eventIds.join(',')}`,
      );
      expect(headers).to.include({ authorization: `Bearer ${given.site.credential}` });
      expect(status).to.equal('200');
      expect(records.items).not.to.deep.equal([]);
      for (const { eventId } of records.items) expect(eventIds).to.include(eventId);
    });
  });

  it('sends the version header of a preview operation', async () => {
    await visit(async (page) => {
      await authorize(page);
      const { target, headers, status, records } = await tryOut(page, 'listOffers', {});
      expect(target).to.equal('/v1/catalog/offers');
      expect(headers).to.include({ 'service-api-version': 'preview' });
      expect(status).to.equal('200');
      expect(records.items).not.to.deep.equal([]);
    });
  });

  it('shows the lines of a long stream of changes', async () => {
    await visit(async (page) => {
      await authorize(page);
      const { target, status, text } = await tryOut(page, 'readChanges', { collections: 'tickets,orders' });
      expect(target).to.equal('/v1/changes?collections=tickets,orders');
      expect(status).to.equal('200');
      const lines = text.trim().split('\n');
      expect(lines.at(0)).to.equal('{"change":"reset"}');
      expect(lines.at(-1)).to.match(/^{"change":"end",/);
    });
  });

  it('retrieves a record by its id', async () => {
    const [{ ticketId }] = await twoTickets();
    await visit(async (page) => {
      await authorize(page);
      const { target, status, records } = await tryOut(page, 'getTicket', {
        ticket_id: String(ticketId),
      });
      expect(target).to.equal(`/v1/tickets/${String(ticketId)}`);
      expect(status).to.equal('200');
      expect(records['ticketId']).to.equal(ticketId);
    });
  });

  it('keeps the key for its tab until it is forgotten, and never beyond', async () => {
    const authorizationIn = async (page: Page) =>
      (await tryOut(page, 'listOrders', {})).headers['authorization'];
    await visit(async (page) => {
      await authorize(page);
      await page.reload();
      expect(await authorizationIn(page)).to.equal(`Bearer ${given.site.credential}`);
      const inTab = () => page.evaluate('Object.values(sessionStorage)');
      expect(await inTab()).to.deep.equal([given.site.credential]);
      expect(await page.context().storageState()).to.deep.equal({ cookies: [], origins: [] });
      await page.getByRole('button', { name: 'Forget' }).click();
      expect(await inTab()).to.deep.equal([]);
    });
  });

  it('takes the key from the address, and removes it there', async () => {
    const { replica, credential } = given.site;
    await chromium.browser.visit(`${replica.origin}/docs#key=${credential}`, async (page) => {
      await page.locator('#key-state.good').waitFor();
      expect(page.url()).not.to.include(credential.split(':').at(-1));
    });
  });

  it('never shows the secret of the key', async () => {
    await visit(async (page) => {
      await authorize(page);
      await tryOut(page, 'listTickets', { perPage: '1' });
      const text = await page.locator('body').innerText();
      expect(text).to.include('Authorization: Bearer svc:o:').and.to.include('The key works');
      expect(text).to.not.include(given.site.credential.split(':').at(-1));
    });
  });

  for (const [name, key, status, words] of [
    ['malformed', 'nonsense', 400, 'A key has the form svc:o:ORGANIZATION:SECRET.'],
    ['unknown', 'svc:o:none:nonsense', 403, 'The API key is unknown or invalid.'],
  ] as const) {
    it(`refuses a key that is ${name}, and does not use it`, async () => {
      await visit(
        async (page) => {
          await page.getByLabel('API key').fill(key);
          await page.getByRole('button', { name: 'Use key' }).click();
          const state = page.locator('#key-state.bad');
          expect(await state.innerText()).to.include(words);
          expect(await page.evaluate('sessionStorage.length')).to.equal(0);
          expect(await page.getByRole('button', { name: 'Forget' }).isVisible()).to.equal(false);
        },
        {},
        [new RegExp(`status of ${status} `)],
      );
    });
  }

  it('tells that the server cannot be reached', async () => {
    await visit(
      async (page) => {
        const operation = await opened(page, 'listTickets');
        await page.context().setOffline(true);
        await authorize(page);
        await page.locator('#key-state.warn', { hasText: 'The server cannot be reached' }).waitFor();
        await operation.locator('.execute').click();
        await operation.getByRole('alert').getByText('The server cannot be reached').waitFor();
        expect(await operation.getByText('Undocumented').count()).to.equal(0);
      },
      {},
      [/net::ERR_INTERNET_DISCONNECTED/],
    );
  });

  it('works by keyboard alone', async () => {
    await visit(async (page) => {
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
    });
  });

  it('links to the explorer only when it is served', async () => {
    await visit(async (page) => {
      await page.locator('.opblock').first().waitFor();
      expect(await page.getByRole('link', { name: 'Explorer' }).count()).to.equal(0);
    });
  });

  it('works behind a proxy that adds a prefix', async () => {
    const proxy = createServer(({ url = '', headers }, response) => {
      const target = given.site.replica.origin + url.replace(/^\/foyer/, '');
      get(target, { headers }, (answer) => {
        answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.headers));
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = proxy.address() as AddressInfo;
      await chromium.browser.visit(`http://127.0.0.1:${port}/foyer/docs`, async (page) => {
        await authorize(page);
        const { target, status } = await tryOut(page, 'listEvents', { perPage: '2' });
        expect(target).to.equal('/foyer/v1/events?perPage=2');
        expect(status).to.equal('200');
      });
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`has no serious violation of accessibility rules: ${colorScheme}`, async () => {
      await visit(
        async (page) => {
          await authorize(page);
          await tryOut(page, 'listOffers', {});
          expect(await accessibilityViolations(page)).to.deep.equal([]);
        },
        { colorScheme },
      );
    });
  }

  it('fits a phone', async () => {
    await visit(
      async (page) => {
        await authorize(page);
        await tryOut(page, 'listTickets', {});
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect(overflow).to.equal(0);
      },
      { viewport: { width: 360, height: 740 } },
    );
  });
});
