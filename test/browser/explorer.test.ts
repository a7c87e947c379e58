import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { needs } from '../support/components.ts';
import { accessibilityViolations, givenBrowser } from './support/browser.ts';
import { givenSite } from '../support/site.ts';

const PHONE = { viewport: { width: 360, height: 740 } } as const;
const CLIPBOARD = { permissions: ['clipboard-read', 'clipboard-write'] };

/** The console error with which Chromium reports a response of a status. */
function statusError(status: number): RegExp {
  return new RegExp(`^Failed to load resource: the server responded with a status of ${status} `);
}

describe('The explorer', () => {
  needs('curl');
  const given = givenSite({ EXPLORER: 'on', RATE_LIMIT_PER_MINUTE: '0' });
  const chromium = givenBrowser();

  /** Opens a place, signed in by the key in the address. */
  async function explore<T>(
    place: string,
    use: (page: Page) => Promise<T>,
    options: BrowserContextOptions = {},
    expected: readonly RegExp[] = [],
  ): Promise<T> {
    const { replica, credential } = given.site;
    const start = async (page: Page): Promise<T> => {
      await page.locator('.top').waitFor();
      if (place !== '#/events') await go(page, place);
      await settled(page);
      return use(page);
    };
    return chromium.browser.visit(
      `http://127.0.0.1:${replica.port}/explorer#key=${credential}`,
      start,
      options,
      expected,
    );
  }

  async function go(page: Page, place: string): Promise<void> {
    await page.evaluate(`location.hash = ${JSON.stringify(place)}`);
    await page.waitForURL((url) => url.hash === place);
    await settled(page);
  }

  /** Waits until no request is under way. */
  async function settled(page: Page): Promise<void> {
    await page.locator('main:not(:has(.skeleton, [aria-busy="true"]))').waitFor();
  }

  /** Returns a record of the site by the API. */
  async function firstOf(path: string): Promise<Record<string, string>> {
    const { replica, credential } = given.site;
    const response = await fetch(`http://127.0.0.1:${replica.port}${path}`, {
      headers: { Authorization: `Bearer ${credential}`, 'Service-API-Version': 'preview' },
    });
    const { items } = (await response.json()) as { items: Record<string, string>[] };
    return items[0];
  }

  /** Returns an event with options and bundles. */
  async function offersOf(filter: string): Promise<{ eventId: string; optionOffers: unknown[] }[]> {
    const { replica, credential } = given.site;
    const response = await fetch(`http://127.0.0.1:${replica.port}/v1/catalog/offers?${filter}&perPage=100`, {
      headers: { Authorization: `Bearer ${credential}`, 'Service-API-Version': 'preview' },
    });
    return ((await response.json()) as { items: { eventId: string; optionOffers: unknown[] }[] }).items;
  }

  /** Returns an event with options and a bundle. */
  async function eventWithOptions(): Promise<string> {
    for (const { eventId, optionOffers } of await offersOf('type=TICKET'))
      if (optionOffers.length > 0 && (await offersOf(`type=BUNDLE&eventId=${eventId}`)).length > 0)
        return eventId;
    throw new Error('the sample has no event with options and a bundle');
  }

  it('refuses a wrong key with the words of the API, accepts a right one, and forgets it on request', async () => {
    const { replica, credential } = given.site;
    await chromium.browser.visit(
      `http://127.0.0.1:${replica.port}/explorer`,
      async (page) => {
        const key = page.getByLabel('API key');
        await key.fill(`${credential}x`);
        await key.press('Enter');
        expect(await page.getByRole('alert').textContent()).to.equal('The API key is unknown or invalid.');

        await key.fill(credential);
        await key.press('Enter');
        await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
        expect(await page.locator('.organization').textContent()).to.equal(credential.split(':')[2]);

        await page.reload();
        await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
        await page.getByRole('button', { name: 'Sign out' }).click();
        await key.waitFor();
        expect(await page.evaluate('sessionStorage.length')).to.equal(0);
      },
      {},
      [statusError(403)],
    );
  });

  it('tells the form of a key when one is malformed, also one in the address', async () => {
    await chromium.browser.visit(
      `http://127.0.0.1:${given.site.replica.port}/explorer#key=nonsense`,
      async (page) => {
        expect(await page.getByRole('alert').textContent()).to.equal(
          'This is not an API key. A key has the form svc:o:ORGANIZATION:SECRET.',
        );
      },
      {},
      [statusError(400)],
    );
  });

  for (const list of ['tickets', 'orders', 'offers']) {
    it(`shows times with their offsets and amounts in one line: ${list}`, () =>
      explore(
        `#/${list}`,
        async (page) => {
          await page.locator('table time').first().waitFor();
          const times = await page.locator('table time').allInnerTexts();
          for (const time of times) expect(time).to.match(/\d\d:\d\d\s+UTC/);
          expect(times).not.to.deep.equal([]);
          const heights = await page.evaluate<number[]>(
            `Array.from(document.querySelectorAll('table td.number:last-child'), (cell) => {
              const range = document.createRange();
              range.selectNodeContents(cell);
              return range.getBoundingClientRect().height;
            })`,
          );
          for (const height of heights) expect(height).to.be.below(30);
        },
        { viewport: { width: 1280, height: 800 } },
      ));
  }

  it('takes the key from the address, and removes it there', () =>
    explore('#/events', async (page) => {
      expect(page.url()).to.not.include('key');
      expect(await page.locator('.organization').textContent()).to.equal(given.site.credential.split(':')[2]);
    }));

  it('leads from the events to an event with its sales, its stock and its offers, and back', async () => {
    const { id, title } = await firstOf(`/v1/events?perPage=1`);
    await explore('#/events', async (page) => {
      await page.getByRole('link', { name: title, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      expect(new URL(page.url()).hash).to.equal(`#/events/${id}`);
      await page.getByRole('heading', { name: 'Sales' }).waitFor();
      await page.locator('time-chart canvas').waitFor();
      await page.getByText('Sales as a table').click();
      const days = await page.locator('.as-table tbody tr td:last-child').allTextContents();
      const issued = await page.locator('.figures-row dd').first().textContent();
      expect(days.at(-1)).to.equal(issued);
      await page.getByRole('heading', { name: 'Stock left' }).waitFor();

      await page.getByRole('link', { name: 'Offers' }).last().click();
      await page.locator('.offer').first().waitFor();
      await page.goBack();
      await page.locator('time-chart canvas').waitFor();
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
    });
  });

  it('shows options under their base ticket, and the content of bundles', async () => {
    await explore(`#/events/${await eventWithOptions()}/offers`, async (page) => {
      await page.locator('.options li a').first().waitFor();
      await page.getByText('Contains').first().waitFor();
      const text = await page.locator('.stock-text').first().textContent();
      expect(text).to.match(/^[\d,]+ of [\d,]+\s+(\d+% left|none left)/);
    });
  });

  it('filters by a form, and shows violations at their fields', () =>
    explore(
      '#/tickets',
      async (page) => {
        await page.getByText('Filters').click();
        await page.getByLabel('updatedAt.gte', { exact: true }).fill('2026-06-01T12:30');
        await page.getByLabel('Time zone of updatedAt.gte').selectOption('UTC');
        await page.getByRole('textbox', { name: 'eventIds' }).fill('evt_1, evt_2');
        await page.getByRole('button', { name: 'Apply' }).click();
        await page.getByText('No record matches these filters.').waitFor();
        expect(await page.locator('.request-bar .target').textContent()).to.equal(
          'GET /v1/tickets?updatedAt.gte=2026-06-01T12:30%2B00:00&eventIds=evt_1,evt_2',
        );

        await page.getByRole('textbox', { name: 'eventIds' }).fill('a,b,c,d,e,f,g,h,i,j,k');
        await page.getByRole('button', { name: 'Apply' }).click();
        const field = page.locator('.field.invalid');
        expect(await field.locator('label').textContent()).to.equal('eventIds');
        expect(await field.locator('.violation').textContent()).to.include('at most 10');
        expect(await page.getByRole('textbox', { name: 'eventIds' }).getAttribute('aria-invalid')).to.equal(
          'true',
        );

        await page.getByRole('link', { name: 'Remove the filter eventIds' }).click();
        await page.locator('table').waitFor();
      },
      {},
      [statusError(400)],
    ));

  it('shows which parameters the API ignored', () =>
    explore('#/tickets?perPage=10&status=FULFILLED', async (page) => {
      expect(await page.getByText('Ignored parameters').locator('..').textContent()).to.include('status');
    }));

  it('pages by nextPage, to a page number, and past the end', () =>
    explore('#/tickets?perPage=10', async (page) => {
      await page.getByRole('link', { name: 'Next' }).click();
      await page.locator('.pager [aria-current="page"]', { hasText: '2' }).waitFor();
      expect(page.url()).to.match(/page=2&perPage=10&snapshot=/);
      await page.getByLabel('Per page').selectOption('100');
      await page.waitForURL(/perPage=100/);
      await page.locator('table tbody tr:nth-child(100)').waitFor();
      await go(page, '#/tickets?page=99999');
      expect(await page.locator('.request-bar').textContent()).to.include('204');
      await page.getByRole('link', { name: 'Go to the first page' }).click();
      await page.locator('table').waitFor();
    }));

  it('shows all fields of a record, its JSON, and the way to related records', async () => {
    const { orderId } = await firstOf('/v1/tickets?perPage=1');
    await explore(`#/orders/${orderId}`, async (page) => {
      const names = await page.locator('.record > .row > dt').allTextContents();
      expect(names).to.include.members(['orderId', 'placedItems', 'billingAddress', 'addOns']);
      await page.getByText('JSON', { exact: true }).click();
      const json = await page.locator('.json pre').textContent();
      expect(JSON.parse(json ?? '')).to.include({ orderId });
      await page.getByRole('link', { name: 'Tickets of this order' }).click();
      await page.locator('table tbody tr').first().waitFor();
    });
  });

  it('shows the 404 of a record in the words of the API', () =>
    explore(
      '#/orders/none',
      async (page) => {
        expect(await page.getByRole('alert').textContent()).to.match(/404\s+\S/);
      },
      {},
      [statusError(404)],
    ));

  it('copies the request as a curl line that gets the same response', () =>
    explore(
      '#/offers?perPage=3',
      async (page) => {
        await page.getByRole('button', { name: 'Request', exact: true }).click();
        const secret = given.site.credential.split(':').at(-1) ?? '';
        const shown = page.getByLabel('curl command');
        expect(await shown.textContent()).to.not.include(secret);
        await page.getByLabel('Show the key').check();
        expect(await shown.textContent()).to.include(secret);

        await page.getByRole('button', { name: 'Copy curl' }).click();
        await page.getByText('Copied').waitFor();
        const line = await page.evaluate<string>('navigator.clipboard.readText()');
        const { items } = JSON.parse(execFileSync('sh', ['-c', line]).toString()) as {
          items: { offerId: string }[];
        };
        const links = await page.locator('table td:first-child a').all();
        const hrefs = await Promise.all(links.map((link) => link.getAttribute('href')));
        expect(hrefs).to.deep.equal(items.map(({ offerId }) => `#/offers/${offerId}`));
      },
      CLIPBOARD,
    ));

  it('confirms an answer by its entity tag', () =>
    explore('#/orders?perPage=10', async (page) => {
      await page.getByRole('button', { name: 'Request', exact: true }).click();
      await page.getByRole('button', { name: 'Send again' }).click();
      await page.locator('.request-bar .mark', { hasText: '304' }).waitFor();
      expect(await page.locator('table tbody tr').count()).to.equal(10);
      expect(await page.locator('.request-details .headers').textContent()).to.include('etag');
    }));

  it('waits as long as a 429 asks, and then sends the request again', () =>
    explore(
      '#/events',
      async (page) => {
        await page.route(
          '**/v1/orders**',
          (route) =>
            route.fulfill({ status: 429, headers: { 'Retry-After': '1' }, json: { detail: 'too many' } }),
          {
            times: 1,
          },
        );
        await page.getByRole('link', { name: 'Orders' }).click();
        await page.locator('.countdown').waitFor();
        await page.locator('table').waitFor();
        expect(await page.locator('.request-bar').textContent()).to.include('200');
      },
      {},
      [statusError(429)],
    ));

  it('offers to try again after a failure of the network', () =>
    explore(
      '#/events',
      async (page) => {
        await page.route('**/v1/orders**', (route) => route.abort(), { times: 1 });
        await page.getByRole('link', { name: 'Orders' }).click();
        await page.getByRole('button', { name: 'Try again' }).click();
        await page.locator('table').waitFor();
      },
      {},
      [/^Failed to load resource: net::ERR_FAILED/],
    ));

  it('reads a long list of tickets only on request, and stops on request', async () => {
    const { eventId } = await firstOf('/v1/tickets?perPage=1');
    await explore('#/events', async (page) => {
      await page.route(/\/v1\/tickets\?.*perPage=100$/, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...((await response.json()) as object), totalPages: 5000 } });
      });
      await go(page, `#/events/${eventId}`);
      await page.getByText('1 of 5,000 pages').waitFor();
      // The second page never comes.
      await page.route(/\/v1\/tickets\?.*page=2&/, () => undefined);
      const readOthers = page.getByRole('button', { name: 'Read the other 4,999' });
      await readOthers.click();
      await page.getByRole('button', { name: 'Stop' }).click();
      await readOthers.waitFor();
      expect(await page.locator('.figures-row dd').first().textContent()).to.equal('100');
    });
  });

  it('works by keyboard alone', () =>
    explore('#/events', async (page) => {
      await page.keyboard.press('Tab');
      expect(await page.locator(':focus').textContent()).to.include('Skip');
      await page.keyboard.press('Enter');
      await page.locator('h1:focus').waitFor();
      await page.getByRole('link', { name: 'Orders' }).focus();
      await page.keyboard.press('Enter');
      await page.locator('table').waitFor();
      expect(await page.locator(':focus').textContent()).to.include('Orders');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByLabel('email').waitFor();
      await page.getByLabel('email').focus();
      await page.keyboard.type('nobody@example.org');
      await page.keyboard.press('Enter');
      await page.getByText('No record matches these filters.').waitFor();
    }));

  describe('in each view', () => {
    const views = async () => {
      const { eventId, ticketId } = await firstOf('/v1/tickets?perPage=1');
      return [
        '#/events',
        `#/events/${eventId}`,
        `#/events/${eventId}/offers`,
        `#/events/${eventId}/sessions`,
        '#/tickets?perPage=10&eventIds=',
        '#/orders?perPage=10&status=FULFILLED',
        `#/tickets/${ticketId}`,
      ];
    };

    for (const colorScheme of ['light', 'dark'] as const) {
      it(`has no serious violation of accessibility rules: ${colorScheme}`, () =>
        explore(
          '#/events',
          async (page) => {
            await page.getByRole('button', { name: 'Request', exact: true }).click();
            for (const view of await views()) {
              await go(page, view);
              expect(await accessibilityViolations(page), view).to.deep.equal([]);
            }
          },
          { colorScheme },
          [statusError(400)],
        ));
    }

    it('fits the width of a phone', () =>
      explore(
        '#/events',
        async (page) => {
          for (const view of await views()) {
            await go(page, view);
            const excess = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
            expect(excess, view).to.be.at.most(0);
          }
        },
        PHONE,
        [statusError(400)],
      ));
  });
});
