import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { excessWidth, goTo, statusError } from './support/browser.ts';
import { givenExplorer, targetOf } from './support/explorer.ts';

describe('A visit to the explorer', () => {
  const given = givenExplorer();
  const { explore } = given;

  it('takes a date without a time for the day of the visitor, and shows its instants', () =>
    explore({ place: '#/tickets', timezoneId: 'America/New_York' }, async (page) => {
      await page.getByText('Filters').click();
      for (const bound of ['gte', 'lte'])
        await page.getByLabel(`updatedAt.${bound}`, { exact: true }).fill('2026-06-01');
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.getByLabel('Active filters').waitFor();
      expect(await targetOf(page)).to.equal(
        'GET /v1/tickets?updatedAt.gte=2026-06-01T00:00-04:00&updatedAt.lte=2026-06-01T23:59:59.999-04:00',
      );
      expect(await page.getByLabel('Time of updatedAt.lte').inputValue()).to.equal('23:59:59.999');
      expect(await page.locator('form :invalid').count()).to.equal(0);
    }));

  it('does not apply an incomplete date, or a time without one, and points to it', () =>
    explore({ place: '#/tickets' }, async (page) => {
      await page.getByText('Filters').click();
      const incomplete = page.locator('[name="updatedAt.gte"]:invalid:focus');
      await page.getByLabel('Time of updatedAt.gte').fill('12:30');
      await page.getByRole('button', { name: 'Apply' }).click();
      await incomplete.waitFor();
      await page.getByLabel('Time of updatedAt.gte').fill('');
      await page.getByLabel('updatedAt.gte', { exact: true }).pressSequentially('06');
      await page.getByRole('button', { name: 'Apply' }).click();
      await incomplete.waitFor();
      expect(await targetOf(page)).to.equal('GET /v1/tickets');
    }));

  it('writes no advice on the encoding of a URL', () => {
    const place = '#/orders?email=a%20b@example.org&updatedAt.gte=x';
    return explore({ place, expected: [statusError(400)] }, async (page) => {
      const text = await page.locator('main').innerText();
      expect(text).to.include('without white space').and.to.include('T20:00:00+01:00');
      expect(text).not.to.include('%2B');
    });
  });

  it('leads from a page whose data is not loaded or gone to the first one, with the filters', () => {
    const place = `#/tickets?updatedAt.gte=2020-01-01T00:00Z&page=2&perPage=10&snapshot=${'A'.repeat(43)}`;
    return explore({ place, expected: [statusError(429), statusError(400)] }, async (page) => {
      const again = page.getByRole('link', { name: 'Start again at page 1' });
      await page.getByText('is not loaded yet').waitFor();
      await again.waitFor();
      const errors = [{ loc: 'query.snapshot', input: 'A', ctx: 'is no longer available' }];
      await page.route(/snapshot=/, (route) => route.fulfill({ status: 400, json: { detail: '', errors } }));
      await page.getByRole('alert').getByText('no longer served').waitFor();
      await again.click();
      await page.locator('table').waitFor();
      expect(await targetOf(page)).to.equal('GET /v1/tickets?updatedAt.gte=2020-01-01T00:00Z&perPage=10');
    });
  });

  it('counts the days of sales whatever the order of a date in the locale data', () =>
    explore({ place: '#/events' }, async (page) => {
      await page.addInitScript(`Object.defineProperty(Intl.DateTimeFormat.prototype, 'format', {
        get() { return (time) => this.formatToParts(time).map(({ value }) => value).reverse().join(''); },
      })`);
      await page.reload();
      await page.locator('.card h2 a').first().click();
      await page.getByText('Sales as a table').click();
      expect(await page.locator('.as-table tbody td').first().innerText()).to.match(/^\d{4}-\d\d-\d\d$/);
    }));

  it('returns from a record to the position in the list, and begins a new page at its top', () =>
    explore({ place: '#/tickets?perPage=50' }, async (page) => {
      const position = () => page.evaluate<number>('scrollY');
      await page.locator('tbody a').nth(40).click();
      await page.locator('.record').waitFor();
      expect(await position()).to.equal(0);
      await page.goBack();
      await eventually(async () => (await position()) > 1000);
    }));

  it('shows a place until the next one is entered, also when it is drawn in between', () =>
    explore({ place: '#/events' }, async (page) => {
      await page.evaluate(`location.hash = '#/tickets';
        document.querySelector('.find input').dispatchEvent(new Event('input'))`);
      await page.locator('td').first().waitFor();
    }));

  it('hands the key to new tabs while one is open, unless the open ones differ, and forgets it in all', () =>
    explore({ place: '#/events' }, async (first) => {
      const open = async (path: string) => {
        const page = await first.context().newPage();
        await page.goto(given.site.replica.origin + path);
        return page;
      };
      const second = await open('/explorer#/orders');
      await second.locator('table').waitFor();
      const docs = await open('/docs');
      await docs.locator('#key-state.good').waitFor();
      const guide = await open('/docs/guide');
      await guide.getByRole('button', { name: 'Copy with the key' }).first().waitFor();
      expect(await first.context().storageState()).to.deep.equal({ cookies: [], origins: [] });
      await docs.evaluate(`sessionStorage.setItem('foyer-key', 'svc:o:other:key')`);
      await (await open('/explorer')).locator('#key:focus').waitFor();
      await first.getByRole('button', { name: 'Sign out' }).click();
      await second.locator('#key').waitFor();
      await guide.getByRole('button', { name: 'Copy', exact: true }).first().waitFor();
      expect(await second.evaluate('sessionStorage.length')).to.equal(0);
      expect(await docs.evaluate('sessionStorage.length')).to.equal(1);
    }));

  for (const [width, height] of [
    [390, 844],
    [768, 800],
    [1024, 800],
    [1280, 800],
    [1440, 800],
  ]) {
    it(`shows the whole menu, leaves room beside the request, and has the link to the documentation: ${width} wide`, () =>
      explore({ place: '#/events', viewport: { width, height } }, async (page) => {
        const boxOf = async (selector: string) => {
          const box = await page.locator(selector).first().boundingBox();
          return { top: box?.y ?? NaN, bottom: (box?.y ?? NaN) + (box?.height ?? NaN) };
        };
        await page.getByRole('link', { name: 'API docs' }).click({ trial: true });
        const cut = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)`;
        expect(await page.evaluate(`${cut}(document.querySelector('.top nav ul'))`)).to.equal(0);
        await page.locator('.toggle').click();
        expect((await boxOf('.requests')).top).to.be.above(height * 0.55);
        expect((await boxOf('.requests .copy')).bottom).to.be.below((await boxOf('.requests pre')).top);
        await page.evaluate('scrollTo(0, document.body.scrollHeight)');
        expect((await boxOf('.pager')).bottom).to.be.below((await boxOf('.requests')).top);
        expect(await excessWidth(page)).to.equal(0);
      }));
  }

  it('shows all digits of an amount, names an order by its number, and titles a list without dates', () =>
    explore({ place: '#/events' }, async (page) => {
      expect(await page.locator('.page-header').innerText()).not.to.match(/\d/);
      await page.route(/\/v1\/orders$/, async (route) => {
        const body = (await (await route.fetch()).json()) as { items: readonly object[] };
        const items = body.items.map((order, i) => ({ ...order, totalPaidPrice: i === 0 ? 19.999 : 20 }));
        await route.fulfill({ json: { ...body, items } });
      });
      await goTo(page, '#/orders');
      const amounts = (await page.locator('td.number:last-child').allInnerTexts()).slice(0, 2);
      expect(amounts.map((text) => text.replaceAll(/[^\d.]/g, ''))).to.deep.equal(['19.999', '20.00']);
      const link = page.locator('tbody a').first();
      const number = await link.innerText();
      await link.click();
      await page.getByRole('heading', { level: 1, name: number }).waitFor();
    }));
});
