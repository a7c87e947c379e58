import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import type { Event, Ticket, TicketOffer } from '../../src/pages/explorer/types.d.ts';
import { needs } from '../support/components.ts';
import { eventually } from '../support/eventually.ts';
import { accessibilityViolations, goTo, statusError } from './support/browser.ts';
import { givenExplorer, targetOf } from './support/explorer.ts';

const CLIPBOARD = ['clipboard-read', 'clipboard-write'];

describe('The explorer', () => {
  needs('curl');
  const given = givenExplorer();
  const { explore, recordsOf } = given;

  it('refuses a wrong key with the words of the API, accepts a right one, and forgets it on request', async () => {
    const { credential } = given.site;
    await given.visit({ expected: [statusError(403)] }, async (page) => {
      const key = page.locator('#key:focus');
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
    });
  });

  it('shows times with their offsets, and amounts in one line', () =>
    explore({ place: '#/events' }, async (page) => {
      for (const list of ['tickets', 'orders', 'offers']) {
        await goTo(page, `#/${list}`);
        const times = await page.locator('table time').allInnerTexts();
        for (const time of times) expect(time, list).to.match(/\d\d:\d\d\s+UTC/);
        expect(times, list).not.to.deep.equal([]);
        const heights = await page.evaluate<number[]>(
          `Array.from(document.querySelectorAll('table td.number:last-child'), (cell) => {
            const range = document.createRange();
            range.selectNodeContents(cell);
            return range.getBoundingClientRect().height;
          })`,
        );
        for (const height of heights) expect(height, list).to.be.below(30);
      }
    }));

  it('leads from the events to an event with its sales, its stock and its offers, and back', async () => {
    const [{ id, title }] = await recordsOf<Event>('/v1/events');
    await explore({ place: '#/events' }, async (page) => {
      await page.getByRole('link', { name: title, exact: true }).click();
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      expect(new URL(page.url()).hash).to.equal(`#/events/${id}`);
      await page.getByRole('heading', { name: 'Sales' }).waitFor();
      await page.locator('time-chart canvas').waitFor();
      await page.getByText('Sales as a table').click();
      // The page reads the tickets in several requests, and shows what it has.
      await eventually(async () => {
        const days = await page.locator('.as-table tbody tr td:last-child').allTextContents();
        return days.at(-1) === (await page.locator('.figures-row dd').first().textContent());
      });
      await page.getByRole('heading', { name: 'Stock left' }).waitFor();

      await page.getByRole('link', { name: 'Offers' }).last().click();
      await page.locator('.offer').first().waitFor();
      await page.goBack();
      await page.locator('time-chart canvas').waitFor();
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor();
    });
  });

  it('sends no request when it is drawn again', async () => {
    const [{ id }] = await recordsOf<Event>('/v1/events');
    await explore({ place: `#/events/${id}` }, async (page) => {
      // All tickets of the event are read.
      await page.locator('main:not(:has(.walk)) time-chart canvas').waitFor();
      const sent: string[] = [];
      page.on('request', (request) => sent.push(request.url()));
      await page.getByRole('button', { name: 'Per day' }).click();
      await page.getByText('Sales as a table').click();
      await page.locator('.as-table tbody tr').first().waitFor();
      await page.locator('[aria-controls="request-details"]').click();
      await page.getByLabel('Show the key').check();
      await page.getByText('Bearer svc:o:').waitFor();
      await page.setViewportSize({ width: 390, height: 800 });
      await page.evaluate('new Promise(requestAnimationFrame)');
      expect(sent).to.deep.equal([]);
    });
  });

  it('shows options under their base ticket, and the content of bundles', async () => {
    const tickets = await recordsOf<TicketOffer>('/v1/catalog/offers?type=TICKET');
    const withOptions = tickets.find(({ optionOffers }) => optionOffers.length > 0);
    const inBundle = tickets.find(({ pricing }) =>
      pricing.some(({ bundleOfferId }) => bundleOfferId !== null),
    );
    await explore({ place: `#/events/${withOptions?.eventId ?? ''}/offers` }, async (page) => {
      await page.locator('.options li a').first().waitFor();
      const text = await page.locator('.stock-text').first().textContent();
      expect(text).to.match(/^[\d,]+ of [\d,]+\s+(\d+% left|none left)/);
      await goTo(page, `#/events/${inBundle?.eventId ?? ''}/offers`);
      await page.getByText('Contains').first().waitFor();
    });
  });

  it('filters by a form, and shows violations at their fields', () =>
    explore({ place: '#/tickets', expected: [statusError(400)] }, async (page) => {
      await page.getByText('Filters').click();
      await page.getByLabel('updatedAt.gte', { exact: true }).fill('2026-06-01');
      await page.getByLabel('Time of updatedAt.gte').fill('12:30');
      await page.getByLabel('Time zone of updatedAt.gte').selectOption('UTC');
      const eventIds = page.getByRole('textbox', { name: 'eventIds' });
      await eventIds.fill('evt_1, evt_2');
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.getByText('No record matches these filters.').waitFor();
      expect(await targetOf(page)).to.equal(
        'GET /v1/tickets?updatedAt.gte=2026-06-01T12:30%2B00:00&eventIds=evt_1,evt_2',
      );

      await eventIds.fill('a,b,c,d,e,f,g,h,i,j,k');
      await page.getByRole('button', { name: 'Apply' }).click();
      const field = page.locator('.field.invalid');
      expect(await field.locator('label').textContent()).to.equal('eventIds');
      expect(await field.locator('.violation').textContent()).to.include('at most 10');
      expect(await eventIds.getAttribute('aria-invalid')).to.equal('true');

      await page.getByRole('link', { name: 'Remove the filter eventIds' }).click();
      await page.locator('table').waitFor();
    }));

  it('shows which parameters the API ignored', () =>
    explore({ place: '#/tickets?perPage=10&status=FULFILLED' }, async (page) => {
      expect(await page.getByText('Ignored parameters').locator('..').textContent()).to.include('status');
    }));

  it('pages by nextPage, to a page number, and past the end', () =>
    explore({ place: '#/tickets?perPage=10' }, async (page) => {
      await page.getByRole('link', { name: 'Next' }).click();
      await page.locator('.pager [aria-current="page"]', { hasText: '2' }).waitFor();
      expect(page.url()).to.match(/page=2&perPage=10&snapshot=/);
      await page.getByLabel('Per page').selectOption('100');
      await page.waitForURL(/perPage=100/);
      await page.locator('table tbody tr:nth-child(100)').waitFor();
      await goTo(page, '#/tickets?page=99999');
      expect(await page.locator('.request-bar').textContent()).to.include('204');
      await page.getByRole('link', { name: 'Start again at page 1' }).click();
      await page.locator('table').waitFor();
    }));

  it('shows all fields of a record, its JSON, and the way to related records', async () => {
    const [{ orderId }] = await recordsOf<Ticket>('/v1/tickets');
    await explore({ place: `#/orders/${orderId}`, expected: [statusError(404)] }, async (page) => {
      const names = await page.locator('.record > .row > dt').allTextContents();
      expect(names).to.include.members(['orderId', 'placedItems', 'billingAddress', 'addOns']);
      await page.getByText('JSON', { exact: true }).click();
      const json = await page.locator('.json pre').textContent();
      expect(JSON.parse(json ?? '')).to.include({ orderId });
      await page.getByRole('link', { name: 'Tickets of this order' }).click();
      await page.locator('table tbody tr').first().waitFor();
      await goTo(page, '#/orders/none');
      expect(await page.getByRole('alert').textContent()).to.match(/404\s+\S/);
    });
  });

  it('copies the request as a curl line that gets the same response, also after it was confirmed', () =>
    explore({ place: '#/offers?perPage=3', permissions: CLIPBOARD }, async (page) => {
      await goTo(page, '#/events');
      await goTo(page, '#/offers?perPage=3');
      await page.locator('.request-bar .mark', { hasText: '304' }).waitFor();
      await page.getByRole('button', { name: 'Request', exact: true }).click();
      const secret = given.site.credential.split(':').at(-1) ?? '';
      const shown = page.getByLabel('curl command');
      expect(await shown.textContent()).to.not.include(secret);
      await page.getByLabel('Show the key').check();
      expect(await shown.textContent()).to.include(secret);

      await page.getByRole('button', { name: 'Copy curl' }).click();
      await page.getByText('Copied').waitFor();
      const line = await page.evaluate<string>('navigator.clipboard.readText()');
      const { items } = JSON.parse(execFileSync('sh', ['-c', line]).toString()) as { items: TicketOffer[] };
      const links = await page.locator('table td:first-child a').all();
      const hrefs = await Promise.all(links.map((link) => link.getAttribute('href')));
      expect(hrefs).to.deep.equal(items.map(({ offerId }) => `#/offers/${offerId}`));
    }));

  it('confirms an answer by its entity tag', () =>
    explore({ place: '#/orders?perPage=10' }, async (page) => {
      await page.getByRole('button', { name: 'Request', exact: true }).click();
      await page.getByRole('button', { name: 'Send again' }).click();
      await page.locator('.request-bar .mark', { hasText: '304' }).waitFor();
      expect(await page.locator('table tbody tr').count()).to.equal(10);
      expect(await page.locator('.request-details .headers').textContent()).to.include('etag');
    }));

  it('sends a request again when the wait of a 429 has passed, and on request after a failure of the network', () =>
    explore({ place: '#/events', expected: [statusError(429), /net::ERR_FAILED/] }, async (page) => {
      const tooMany = { status: 429, headers: { 'Retry-After': '1' }, json: { detail: 'too many' } };
      await page.route('**/v1/orders**', (route) => route.fulfill(tooMany), { times: 1 });
      await page.getByRole('link', { name: 'Orders' }).click();
      await page.locator('.countdown').waitFor();
      await page.locator('table').waitFor();
      expect(await page.locator('.request-bar').textContent()).to.include('200');

      await page.route('**/v1/tickets**', (route) => route.abort(), { times: 1 });
      await page.getByRole('link', { name: 'Tickets' }).click();
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.locator('table').waitFor();
    }));

  it('reads a long list of tickets only on request, and stops on request', async () => {
    const [{ eventId }] = await recordsOf<Ticket>('/v1/tickets');
    await explore({ place: '#/events' }, async (page) => {
      await page.route(/\/v1\/tickets\?.*perPage=100$/, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...((await response.json()) as object), totalPages: 5000 } });
      });
      await goTo(page, `#/events/${eventId}`);
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
    explore({ place: '#/events' }, async (page) => {
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

  for (const colorScheme of ['light', 'dark'] as const) {
    it(`has no serious violation of accessibility rules: ${colorScheme}`, async () => {
      const [{ eventId, ticketId }] = await recordsOf<Ticket>('/v1/tickets');
      const event = `#/events/${eventId}`;
      await explore({ place: '#/events', colorScheme, expected: [statusError(400)] }, async (page) => {
        await page.getByRole('button', { name: 'Request', exact: true }).click();
        for (const place of [
          '#/events',
          event,
          `${event}/offers`,
          `${event}/sessions`,
          '#/tickets?perPage=10&eventIds=',
          '#/orders?perPage=10&status=FULFILLED',
          `#/tickets/${ticketId}`,
        ]) {
          await goTo(page, place);
          expect(await accessibilityViolations(page), place).to.deep.equal([]);
        }
      });
    });
  }
});
