import { expect } from 'chai';
import { buildFile, type ImportRecord } from '../support/import-folder.ts';
import { FULL_RECORDS, inOrganization, recordsIn, times } from '../support/records.ts';
import { newCredential, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { excessWidth, givenBrowser, goTo, statusError } from './support/browser.ts';

const ORGANIZATION = '__proto__';
const { event, session, ticket, order, offer } = recordsIn(ORGANIZATION);
/** Markup that would run, a word without a place to break, and text from right to left. */
const HOSTILE = `<img src=x onerror="hacked=1"><script>hacked=1</script>\${hacked=1}'"\`${'W'.repeat(300)} مرحبا\u202E 🎭`;
const SCRIPT_URL = 'javascript:hacked=1';
/** Fields that other records refer to, or whose values the import checks. */
const KEPT = /^(id|.+Id|type|status|currency|eventTimezone|.+At)$/;
const NO_STOCK = { totalStock: 0, availableStock: 0 };
const FREE = { pricingId: '', name: '', price: 0 };

/** Replaces the texts of a record. */
function hostile(value: unknown, name = ''): unknown {
  if (typeof value === 'string') {
    if (/^(imageUrl|images)$/.test(name)) return SCRIPT_URL;
    return KEPT.test(name) && name !== 'paymentStatus' ? value : HOSTILE;
  }
  if (Array.isArray(value)) return value.map((each: unknown) => hostile(each, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([each, inner]: [string, unknown]) => [each, hostile(inner, each)]),
  );
}

const hostileRecord = (record: ImportRecord) => inOrganization(ORGANIZATION)(hostile(record) as ImportRecord);

describe('The explorer with data as the import permits it', () => {
  const inFolder = folderForAll();
  const chromium = givenBrowser();
  let replica: ReplicaUnderTest | undefined;
  let start = '';

  before(async () => {
    const files = {
      organizations: [{ organizationId: ORGANIZATION, name: HOSTILE }],
      events: [
        ...FULL_RECORDS.events.map(hostileRecord),
        event('minimal'),
        event('edges', {
          currency: 'constructor',
          title: '',
          description: '',
          eventTimezone: 'Europe/Kyiv',
        }),
        event('many', { currency: 'XQQ', eventTimezone: 'Pacific/Kiritimati' }),
      ],
      sessions: [
        session('ses/2', 'evt full'),
        session('one', 'minimal', { startAt: '9999-12-31T23:59:59-23:59' }),
        session('two', 'edges', { startAt: '0000-01-01T00:00+23:59' }),
        ...times(2000, (i) =>
          session(`ses_${i}`, 'many', { startAt: new Date(Date.UTC(2026, 0, 1, i)).toISOString() }),
        ),
      ],
      tickets: [
        ...FULL_RECORDS.tickets.map((full) => ({ ...hostileRecord(full), status: 'constructor' })),
        ticket('...', { eventId: 'minimal', orderId: '__proto__' }),
        ...['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.9999999-23:59', '2026-03-29T02:30:00+01:00'].map(
          (issuedAt, i) =>
            ticket(`edge ${i}`, {
              eventId: 'edges',
              issuedAt,
              currency: 'constructor',
              finalPaidPrice: 1e300,
            }),
        ),
      ],
      orders: [...FULL_RECORDS.orders.map(hostileRecord), order('__proto__')],
      offers: [
        ...FULL_RECORDS.offers.map((full) => ({
          ...hostileRecord(full),
          ...(full['type'] !== 'TICKET' && { heldByEventIds: ['evt full'] }),
        })),
        offer('bare', 'TICKET', {
          eventId: 'minimal',
          name: '',
          inventory: [{ inventoryId: '', sessionId: '', ...NO_STOCK }],
          pricing: [{ ...FREE, resaleEnabled: false }],
          optionOffers: [{ offerId: '', pricingId: '' }],
        }),
        offer('bare product', 'PRODUCT', {
          heldByEventIds: ['minimal'],
          inventory: times(2, () => ({ inventoryId: '', weightInGrams: -1, ...NO_STOCK })),
          pricing: [FREE],
        }),
        offer('bare bundle', 'BUNDLE', {
          heldByEventIds: ['minimal'],
          contains: ['', 'missing', '..'].map((offerId) => ({ offerId, quantity: 0, price: 0 })),
        }),
        offer('empty', 'TICKET', { eventId: 'edges', currency: '' }),
        offer('optionless', 'TICKET', {
          description:
            '<ul><li>All talks</li><li>Lunch on <b>both</b> days</li></ul><script>hacked=1</script>',
          eventId: 'many',
          optionOffers: [{ offerId: 'missing', pricingId: 'p' }],
          inventory: times(2000, (i) => ({
            inventoryId: '',
            sessionId: `ses_${i}`,
            totalStock: i % 3 === 0 ? 0 : -5,
            availableStock: 9,
          })),
        }),
      ],
    };
    await buildFile(files, inFolder('snapshots/hostile.sqlite'));
    const credential = newCredential(inFolder, ORGANIZATION);
    replica = await ReplicaUnderTest.startReady(inFolder, { EXPLORER: 'on' });
    start = `http://127.0.0.1:${replica.port}/explorer#key=${credential}`;
  });

  after(() => replica?.end());

  const tours: Readonly<Record<string, readonly string[]>> = {
    'all lists': ['#/events', '#/tickets', '#/orders', '#/offers'],
    ...Object.fromEntries(
      ['evt full', 'minimal', 'edges', 'many'].map((id) => [
        `the event ${id} in all its parts`,
        ['overview', 'sessions', 'tickets', 'orders', 'offers', 'record'].map(
          (part) => `#/events/${encodeURIComponent(id)}/${part}`,
        ),
      ]),
    ),
    records: [
      '#/tickets/tkt%20%221%22',
      '#/orders/ord_5120',
      '#/orders/__proto__',
      ...['off_7', 'off_8', 'off_9', 'bare', 'bare%20product', 'bare%20bundle'].map((id) => `#/offers/${id}`),
    ],
    'that a place or record is absent, or a filter is refused': [
      '#/__proto__',
      '#/events/__proto__/constructor',
      '#/events/%E0%A4%A',
      // A browser resolves such an id as a step to the parent folder.
      '#/tickets/..',
      '#/tickets?__proto__=1&page=%00&updatedAt.gte=%3Cscript%3E',
    ],
  };

  for (const [name, places] of Object.entries(tours)) {
    it(`shows ${name}, on the narrowest screen`, () => {
      // An offer may name one that does not exist.
      const expected = [statusError(404), statusError(400)];
      return chromium.visit({ url: start, expected, viewport: { width: 320, height: 700 } }, async (page) => {
        await page.locator('.top').waitFor();
        for (const place of places) {
          await goTo(page, place);
          await page.locator('main h1').waitFor();
          expect(await page.evaluate('typeof hacked'), `scripts of ${place}`).to.equal('undefined');
          expect(await excessWidth(page), `width of ${place}`).to.equal(0);
        }
      });
    });
  }

  it('takes over a key from an address that is opened in the same tab, and refuses one that is broken or unknown', async () => {
    const [address] = start.split('#');
    const url = `${address}#key=%E0%A4%A%F0%9F%8E%AD`;
    await chromium.visit({ url, expected: [statusError(403)] }, async (page) => {
      await page.getByLabel('API key').fill('svc:o:a:🎭');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText('This is not an API key.').waitFor();
      await page.goto(start);
      await page.locator('.top').waitFor();
      expect(new URL(page.url()).hash).to.equal('#/events');
      await page.goto(`${address}#key=svc:o:other:secret`);
      await page.getByRole('alert').getByText('unknown').waitFor();
      expect(new URL(page.url()).hash).to.equal('');
      await page.goto(start);
      await page.locator('.top').waitFor();
      expect(new URL(page.url()).hash).to.equal('#/events');
    });
  });

  it('shows that a proxy answered with a page of its own', () =>
    chromium.visit({ url: start }, async (page) => {
      await page.locator('.top').waitFor();
      await page.route(/\/v1\//, (route) =>
        route.fulfill({ status: 200, contentType: 'text/html', body: '<p>Sign in' }),
      );
      for (const place of ['#/events/minimal/overview', '#/tickets']) {
        await goTo(page, place);
        await page.getByRole('alert').getByText('200').waitFor();
      }
    }));

  it('writes the blocks of a description apart, and leaves out its scripts', () =>
    chromium.visit({ url: start, expected: [statusError(404)] }, async (page) => {
      await page.locator('.top').waitFor();
      await goTo(page, '#/events/many/offers');
      const description = await page.locator('.offer header p').first().textContent();
      expect(description).to.match(/^All talks\s+Lunch on both days$/);
    }));
});
