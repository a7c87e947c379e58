import { Agent, get } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { Pins } from '../../src/http/checks/pin.ts';
import type { SnapshotImage } from '../../src/store/organization-image.ts';
import { newServedDigests } from '../../src/store/registry/served-digests.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { byDepth } from '../support/depth.ts';
import { builtFrom } from '../support/import-folder.ts';
import { inOrganization, minimalTicket } from '../support/records.ts';
import { withFolder } from '../support/temporary-folder.ts';
import { type Body, TestApi } from '../support/test-api.ts';

const TICKETS = byDepth({ short: 3700, deep: 300_000 });
const PER_PAGE = byDepth({ short: 2, deep: 25 });
const PAGES_PER_MINUTE = 600;
/** The defaults. The walk takes longer than the first, counted from the first replacement, and less than the second. */
const RETENTION = { snapshotRetainSeconds: 300, snapshotRetainMaxSeconds: 3600 };

const NORTH = [{ organizationId: 'north', name: 'north' }];

/** Builds the snapshot of one of several exports, each of which lacks, changes, moves and adds tickets. */
async function exported(number: number): Promise<SnapshotImage> {
  const tickets = Array.from({ length: TICKETS + number * 100 }, (_, i) =>
    minimalTicket(`tkt_${i}`, {
      offerName: `export ${number}`,
      issuedAt: new Date(Date.UTC(2026, 0, 1) + (i % (number + 11)) * 1000).toISOString(),
    }),
  ).filter((_, i) => number === 0 || i % 7 !== number);
  return withFolder(async (inFolder) => {
    const { image } = await builtFrom(inFolder('import'), {
      organizations: NORTH,
      tickets: tickets.map(inOrganization('north')),
    });
    return image;
  });
}

describe(`A walk over ${TICKETS} tickets at ${PAGES_PER_MINUTE} pages a minute, with a refresh every minute`, function () {
  this.timeout(byDepth({ short: 300_000, deep: 600_000 }));

  it('returns each ticket of its snapshot once', async () => {
    const [first, ...others] = [await exported(0), await exported(1), await exported(2)];
    let now = 1_000_000_000;
    const served = newServedDigests();
    const stores = new StoreRegistry(served, () => now);
    const api = await TestApi.start({ stores: () => stores.view, pins: new Pins(served, () => now) });
    const agent = new Agent({ keepAlive: true });
    const headers = { Authorization: api.authorization('north') };
    const load = async (url: string) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      get(url, { agent, headers }, (response) => {
        text(response).then(resolve, reject);
      }).on('error', reject);
      return JSON.parse(await promise) as Body;
    };
    stores.swap('north', first);
    const seen: unknown[] = [];
    let swaps = 0;
    let link: string | null = `${api.origin}/v1/tickets?perPage=${PER_PAGE}`;
    for (let pages = 1; link !== null; pages++) {
      const { items, nextPage, errors }: Body = await load(link);
      expect(errors, `page ${pages}`).to.equal(undefined);
      for (const { ticketId, offerName } of items) {
        if (offerName !== 'export 0') expect.fail(`page ${pages} is of ${String(offerName)}`);
        seen.push(ticketId);
      }
      link = nextPage;
      now += 60_000 / PAGES_PER_MINUTE;
      if (pages % PAGES_PER_MINUTE === 0) {
        stores.swap('north', { ...others[swaps % others.length], snapshotId: `swap ${++swaps}` });
        stores.releaseUnwalked();
      }
      stores.releaseExpired(RETENTION);
    }
    agent.destroy();
    await api.stop();
    expect(seen).to.have.length(TICKETS);
    expect(new Set(seen).size).to.equal(TICKETS);
    expect(swaps).to.equal(Math.floor(TICKETS / PER_PAGE / PAGES_PER_MINUTE));
    expect(stores.retained.length, 'the first content alone').to.equal(1);
  });
});
