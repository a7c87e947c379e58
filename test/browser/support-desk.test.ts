import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page, Request } from 'playwright-core';
import type { Event, Order, Ticket } from '../../src/pages/explorer/types.d.ts';
import { needs } from '../support/components.ts';
import { accessibilityViolations, goTo, statusError } from './support/browser.ts';
import { givenExplorer, targetOf } from './support/explorer.ts';

/** Reads CSV with Python, which refuses bad quoting. */
const READ_CSV = `import csv, json, sys
text = open(0, encoding='utf-8-sig', newline='')
print(json.dumps(list(csv.DictReader(text, strict=True))))`;

/** Lets the page write to a file of its own in place of one that a user selects. */
const SELECT_FILE = `window.showSaveFilePicker = async ({ suggestedName }) => {
  const folder = await navigator.storage.getDirectory();
  return folder.getFileHandle(suggestedName, { create: true });
}`;
const IN_MEMORY = 'delete window.showSaveFilePicker';

describe('The explorer at a support desk', () => {
  needs('Python 3.11 with venv');
  const given = givenExplorer();
  const { explore, linesOf, recordsOf } = given;
  const isStream = (request: Request) => request.headers()['accept'] === 'application/x-ndjson';
  const outcome = (page: Page) => page.getByRole('region', { name: 'Download' });

  it('tells how many records a list has as filtered, and the time of its data', async () => {
    const tickets = await recordsOf<Ticket>('/v1/tickets');
    const [{ eventId }] = tickets;
    const pending = await recordsOf<Order>('/v1/orders?status=PENDING');
    const ofEvent = tickets.filter((ticket) => ticket.eventId === eventId).length;
    await explore({ place: '#/tickets?perPage=10' }, async (page) => {
      for (const [place, count] of [
        ['#/tickets?perPage=10', `${tickets.length.toLocaleString('en')} tickets`],
        ['#/orders?status=PENDING&perPage=100', `${pending.length} orders`],
        [`#/events/${eventId}/tickets?perPage=10&page=2`, `${ofEvent.toLocaleString('en')} tickets`],
        [`#/tickets?qrCodes=${tickets[0].qrCode}`, '1 ticket'],
      ]) {
        await goTo(page, place);
        await page.locator('.list-bar').getByText(count, { exact: true }).waitFor();
        expect(await page.locator('.list-bar').textContent()).to.match(
          /as of \d+ \w+ 20\d\d, .*(ago|minute)/,
        );
      }
      // The request of the view stays the one to copy.
      const target = `GET /v1/tickets?qrCodes=${tickets[0].qrCode}`;
      expect(await targetOf(page)).to.equal(target);
    });
  });

  it('shows the event and the QR code of a ticket, and breaks no word', async () => {
    const [{ eventId, qrCode }] = await recordsOf<Ticket>('/v1/tickets');
    const event = (await recordsOf<Event>('/v1/events')).find(({ id }) => id === eventId);
    await explore({ place: '#/tickets?perPage=100' }, async (page) => {
      const row = page.locator('tbody tr').first();
      expect(await row.textContent()).to.include(qrCode);
      await row.getByRole('link', { name: event?.title ?? '' }).waitFor();
      const broken = await page.evaluate<string[]>(`(() => {
        const texts = document.createTreeWalker(document.querySelector('tbody'), NodeFilter.SHOW_TEXT);
        const broken = [];
        while (texts.nextNode()) {
          if (texts.currentNode.parentElement.closest('code') || texts.currentNode.data.includes('@')) continue;
          for (const { 0: word, index } of texts.currentNode.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
            const range = new Range();
            range.setStart(texts.currentNode, index);
            range.setEnd(texts.currentNode, index + word.length);
            if (range.getClientRects().length > 1) broken.push(word);
          }
        }
        return broken;
      })()`);
      expect(broken).to.deep.equal([]);
    });
  });

  it('finds a record by its id or QR code, and orders by e-mail, from the keyboard', async () => {
    const [{ ticketId, qrCode, orderId }] = await recordsOf<Ticket>('/v1/tickets');
    const orders = await recordsOf<Order>('/v1/orders');
    const emails = orders.flatMap(({ customer }) => customer?.email ?? []);
    const email = emails.find((each, i) => emails.indexOf(each) < i) ?? '';
    const search = async (page: Page, text: string) => {
      await page.keyboard.press('/');
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
    };
    await explore({ place: '#/events', expected: [statusError(404)] }, async (page) => {
      const hashes: string[] = [];
      for (const text of [ticketId, orderId, qrCode, email]) {
        const before = page.url();
        await search(page, text);
        await page.waitForURL((url) => url.href !== before);
        await page.locator('h1:focus').waitFor();
        hashes.push(new URL(page.url()).hash);
      }
      expect(hashes).to.deep.equal([
        `#/tickets/${ticketId}`,
        `#/orders/${orderId}`,
        `#/tickets/${ticketId}`,
        `#/orders?email=${encodeURIComponent(email)}`,
      ]);
      const status = page.getByRole('search').getByRole('status');
      await search(page, orders[0].orderNumber ?? '');
      await status.getByText('no filter for order numbers').waitFor();
      await page.keyboard.type(`${ticketId}\n`);
      await page.waitForURL((url) => url.hash === hashes[0]);
      expect(await accessibilityViolations(page)).to.deep.equal([]);

      const sent: string[] = [];
      page.on('request', (request) => sent.push(request.url()));
      await page.getByRole('searchbox').fill(given.site.credential);
      await page.keyboard.press('Enter');
      await status.getByText('API key').waitFor();
      expect(sent).to.deep.equal([]);
    });
  });

  it('downloads a list as CSV into a file that it writes as it arrives', async () => {
    const orders = await recordsOf<Order>('/v1/orders?status=FULFILLED');
    await explore({ place: '#/orders?status=FULFILLED&perPage=10&page=2' }, async (page) => {
      await page.evaluate(SELECT_FILE);
      await page.getByLabel('Format of the download').selectOption('CSV for spreadsheets');
      await page.getByRole('button', { name: 'Download' }).press('Enter');
      const saved = await outcome(page).getByText('Saved').textContent();
      const name = /orders-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d+Z\.csv/.exec(saved ?? '')?.[0] ?? '';
      expect(saved).to.include(`${orders.length} of ${orders.length} records`);
      const content = await page.evaluate<string>(`navigator.storage.getDirectory()
        .then((folder) => folder.getFileHandle(${JSON.stringify(name)}))
        .then((file) => file.getFile()).then((file) => file.bytes()).then((bytes) => bytes.toBase64())`);
      const input = Buffer.from(content, 'base64');
      const text = execFileSync('python3', ['-c', READ_CSV], { input, maxBuffer: 1e8 }).toString();
      const rows = JSON.parse(text) as Record<string, string>[];
      expect(rows.map((row) => [row['orderId'], row['customer.email'], row['placedItems']])).to.deep.equal(
        orders.map((order) => [
          order.orderId,
          order.customer?.email ?? '',
          JSON.stringify(order.placedItems),
        ]),
      );
      expect(await accessibilityViolations(page)).to.deep.equal([]);
    });
  });

  it('downloads the lines in memory where the browser writes no files, and names the bound', () =>
    explore({ place: '#/tickets' }, async (page) => {
      await page.evaluate(IN_MEMORY);
      await goTo(page, '#/orders');
      await page.getByText('256 MB at most').waitFor();
      await page.getByLabel('Format of the download').selectOption('NDJSON');
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download' }).click();
      const file = await downloading;
      expect(file.suggestedFilename()).to.match(/^orders-[\dT.Z-]+\.ndjson$/);
      expect(readFileSync(await file.path(), 'utf8')).to.equal(await linesOf('/v1/orders'));
    }));

  it('waits after a 429, stops on request, and never passes a part for the whole', () =>
    explore({ place: '#/orders', expected: [statusError(429)] }, async (page) => {
      await page.evaluate(SELECT_FILE);
      const start = page.getByRole('button', { name: 'Download' });
      const tooMany = { status: 429, headers: { 'Retry-After': '1' }, json: { detail: 'too many' } };
      const [line] = (await linesOf('/v1/orders')).split('\n');
      const part = {
        headers: { 'Content-Type': 'application/x-ndjson', 'Service-Record-Count': '2' },
        body: `${line}\n`,
      };
      const answers = [tooMany, part];
      await page.route('**/v1/orders', (route) => {
        if (!isStream(route.request())) return route.continue();
        const answer = answers.shift();
        // The last response never comes.
        return answer === undefined ? undefined : route.fulfill(answer);
      });
      await start.click();
      await page.locator('.countdown').waitFor();
      await outcome(page).getByText('Incomplete: 1 of 2 records.').waitFor();
      expect(await outcome(page).textContent()).to.include('No file was saved.');
      await start.click();
      await outcome(page).getByRole('button', { name: 'Stop' }).click();
      await outcome(page).getByText('Stopped.').waitFor();
      const files = `navigator.storage.getDirectory().then((folder) => Array.fromAsync(folder.keys()))`;
      expect(await page.evaluate(files)).to.deep.equal([]);
    }));
});
