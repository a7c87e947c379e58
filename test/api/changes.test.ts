import { expect } from 'chai';
import { Pins } from '../../src/http/checks/pin.ts';
import type { SnapshotImage } from '../../src/store/organization-image.ts';
import { newServedDigests } from '../../src/store/registry/served-digests.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { builtFrom } from '../support/import-folder.ts';
import { SMALL_IMPORT } from '../support/small-import.ts';
import { withFolder } from '../support/temporary-folder.ts';
import { type ApiResponse, givenApi, type RequestOptions } from '../support/test-api.ts';

const CHANGES = '/v1/changes';
const WAIT_MS = 600_000;

interface Line {
  readonly change: string;
  readonly collection?: string;
  readonly id?: string;
  readonly record?: Readonly<Record<string, unknown>>;
  readonly next?: string;
}

const linesOf = ({ text }: ApiResponse) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
const tokenOf = (response: ApiResponse) => linesOf(response).at(-1)?.next ?? '';
const namesOf = (response: ApiResponse) => linesOf(response).map(({ change }) => change);

/** Builds the small import, and a snapshot that changes a ticket and deletes an order of the organization `north`. */
function buildTwo(): Promise<readonly SnapshotImage[]> {
  return withFolder(async (inFolder) => {
    const { image: first } = await builtFrom(inFolder('first'), SMALL_IMPORT);
    const tickets = [{ ...SMALL_IMPORT.tickets[1], offerName: 'changed' }];
    const deletions = [{ organizationId: 'north', collection: 'orders', id: 'ord_1' }];
    const options = { base: inFolder('first/snapshot.sqlite'), producedAt: new Date('2026-11-21T12:00:01Z') };
    const { image: second } = await builtFrom(inFolder('second'), { tickets, deletions }, options);
    return [first, second];
  });
}

/** A property test compares the changes between the snapshots of random histories, also those of some events. */
describe(CHANGES, () => {
  let snapshots: readonly SnapshotImage[];
  let stores: StoreRegistry;
  /** Milliseconds of the monotonic clock. */
  let now = 0;
  const pins = new Pins(newServedDigests(), () => now);
  const given = givenApi(() => ({ stores: () => stores.view, pins }));

  before(async () => {
    snapshots = await buildTwo();
  });

  beforeEach(() => {
    stores = new StoreRegistry();
    load(0);
  });

  function load(number: number): void {
    stores.swap('a.sqlite', snapshots[number]);
  }

  const read = (query = '', { headers, ...options }: RequestOptions = {}) =>
    given.api.send(CHANGES + query, {
      ...options,
      headers: { 'Service-API-Version': 'preview', ...headers },
    });
  const since = (token: string, more = '') => read(`?since=${token}${more}`);

  it('has the collections of the request, also with a token that has more of them', async () => {
    const token = tokenOf(await read());
    load(1);
    const lines = linesOf(await since(token, '&collections=orders'));
    expect(lines.map(({ change }) => change)).to.deep.equal(['delete', 'end']);
    expect(lines.at(-1)).to.deep.include({ counts: { orders: 8 } });
    expect(namesOf(await since(lines.at(-1)?.next ?? '', '&collections=orders'))).to.deep.equal(['end']);
  });

  it('resets a copy whose token lacks a collection of the request', async () => {
    const token = tokenOf(await read('?collections=orders'));
    expect(namesOf(await since(token))[0]).to.equal('reset');
  });

  it('is 429 for a token of a later snapshot, and a reset when that does not arrive in time after the first', async () => {
    load(1);
    const later = tokenOf(await read());
    stores = new StoreRegistry();
    load(0);
    now = 100 * WAIT_MS;
    for (const step of [0, WAIT_MS - 1]) {
      now += step;
      expect(await since(later)).to.have.property('status', 429);
    }
    for (const step of [1, WAIT_MS]) {
      now += step;
      expect(namesOf(await since(later))[0]).to.equal('reset');
    }
  });

  it('has a token whose length does not depend on that of the ids of events', async () => {
    const lengths = ['evt_2', 'x'.repeat(5000)].map(
      async (id) => tokenOf(await read(`?eventIds=${id}`)).length,
    );
    expect(new Set(await Promise.all(lengths))).to.have.property('size', 1);
  });

  it('refuses malformed parameters, all of them at once', async () => {
    const refusedBy = async (query: string) =>
      (await read(query)).body.errors.map(({ loc, input }) => `${loc} ${input}`);
    const token = tokenOf(await read());
    for (const text of ['x', 'W10', token.slice(1), `${token}A`, `${token}=`, token.toLowerCase()])
      expect(await refusedBy(`?since=${text}`), text).to.deep.equal([`query.since ${text}`]);
    for (const text of ['', 'tickets,', 'Tickets', 'deletions'])
      expect(await refusedBy(`?collections=${text}`), text).to.deep.equal([`query.collections ${text}`]);
    const eleven = Array.from({ length: 11 }, (_, i) => `e${i}`).join();
    for (const text of ['', 'a,', eleven])
      expect(await refusedBy(`?eventIds=${text}`), text).to.deep.equal([`query.eventIds ${text}`]);
    expect(await refusedBy('?since=x&collections=y')).to.have.members([
      'query.since x',
      'query.collections y',
    ]);
  });

  it('begins anew with an empty token, as importers of the OpenAPI document send it', async () => {
    expect(await read('?since=')).to.have.property('text', (await read()).text);
  });

  it('is one stream whatever the client accepts, and is never stored', async () => {
    const token = tokenOf(await read());
    for (const accept of ['application/json', '*/*', 'text/html', 'application/x-ndjson']) {
      const { status, headers } = await read(`?since=${token}`, {
        headers: { Accept: accept, 'If-None-Match': '*' },
      });
      expect(status).to.equal(200);
      expect(headers).to.include({ 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
      expect(headers).not.to.have.property('etag');
    }
  });

  it('has the headers alone for HEAD, and is part of preview only', async () => {
    const { status, text, headers } = await read('', { method: 'head' });
    expect([status, text]).to.deep.equal([200, '']);
    expect(headers['service-snapshot-id']).to.equal(snapshots[0].snapshotId);
    expect(await read('', { headers: { 'Service-API-Version': 'stable' } })).to.have.property('status', 404);
  });

  it('has the next session of an event as of the request', async () => {
    const nextOf = async (now: string) => {
      given.api.clock.now = Date.parse(now);
      const lines = linesOf(await read('?collections=events'));
      return lines.find(({ id }) => id === 'evt_0')?.record?.['nextSessionId'];
    };
    expect(await nextOf('2026-01-01T00:00:00Z')).to.equal('ses_0');
    expect(await nextOf('2030-01-01T00:00:00Z')).to.equal(null);
  });

  it('compresses a stream with changes, and no last line alone', async () => {
    const codingOf = async (query: string) =>
      (await read(query, { headers: { 'Accept-Encoding': 'gzip' } })).headers['content-encoding'];
    const token = tokenOf(await read());
    expect(await codingOf('')).to.equal('gzip');
    expect(await codingOf(`?since=${token}`)).to.equal(undefined);
  });
});
