import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Arrivals } from '../../src/http/checks/pin.ts';
import type { SnapshotImage } from '../../src/store/organization-image.ts';
import { StoreRegistry } from '../../src/store/registry/store-registry.ts';
import { build, PRODUCED_AT, toFile, writeImport } from '../support/import-folder.ts';
import { readSnapshot } from '../support/read-snapshot.ts';
import { SMALL_IMPORT } from '../support/small-import.ts';
import { withFolder } from '../support/temporary-folder.ts';
import { type ApiResponse, type RequestOptions, TestApi } from '../support/test-api.ts';

const CHANGES = '/v1/changes';
const WAIT_MS = 600_000;

interface Line {
  readonly change: string;
  readonly collection?: string;
  readonly id?: string;
  readonly eventId?: string;
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

/** Builds the small import, and two snapshots that change records of the organization `north`. */
function buildThree(): Promise<readonly SnapshotImage[]> {
  return withFolder(async (inFolder) => {
    const path = (number: number) => inFolder(`${number}.sqlite`);
    writeImport(inFolder('all'), SMALL_IMPORT);
    await build(inFolder('all'), path(0));
    for (const number of [1, 2]) {
      const changes = inFolder(`changes-${number}`);
      const [ticket, order] = [SMALL_IMPORT.tickets[number], { collection: 'orders', id: `ord_${number}` }];
      writeImport(changes, { tickets: [{ ...ticket, offerName: 'changed' }] });
      writeFileSync(join(changes, 'deletions.ndjson'), toFile([{ organizationId: 'north', ...order }]));
      const producedAt = new Date(PRODUCED_AT.getTime() + number * 1000);
      await build(changes, path(number), { base: path(number - 1), producedAt });
    }
    return [0, 1, 2].map((number) => readSnapshot(path(number)));
  });
}

describe(CHANGES, () => {
  let snapshots: readonly SnapshotImage[];
  let stores: StoreRegistry;
  let api: TestApi;
  /** Milliseconds of the monotonic clock. */
  let now: number;

  before(async () => {
    snapshots = await buildThree();
  });

  beforeEach(async () => {
    now = 0;
    stores = new StoreRegistry();
    const arrivals = new Arrivals(WAIT_MS, () => now);
    api = await TestApi.start({ stores: () => stores.view, arrivals });
    load(0);
  });
  afterEach(() => api.stop());

  function load(number: number): void {
    stores.swap('a.sqlite', snapshots[number]);
  }

  const read = (query = '', { headers, ...options }: RequestOptions = {}) =>
    api.send(CHANGES + query, { ...options, headers: { 'Service-API-Version': 'preview', ...headers } });
  const since = (token: string, more = '') => read(`?since=${token}${more}`);

  it('begins a copy with a reset, and has all records in the order in which they refer to each other', async () => {
    const response = await read();
    const lines = linesOf(response);
    expect(lines[0]).to.deep.equal({ change: 'reset' });
    const collections = [...new Set(lines.slice(1, -1).map(({ collection }) => collection))];
    expect(collections).to.deep.equal(['events', 'sessions', 'tickets', 'orders', 'offers']);
    expect(lines.at(-1)).to.deep.include({
      change: 'end',
      dataAsOf: PRODUCED_AT.toISOString(),
      counts: { events: 4, sessions: 10, tickets: 60, orders: 9, offers: 5 },
    });
    const session = lines.find(({ collection }) => collection === 'sessions');
    expect(session?.eventId).to.match(/^evt_\d$/);
    expect(session?.record?.['id']).to.equal(session?.id);
  });

  it('has the changes of all snapshots since the token, deletions first', async () => {
    const token = tokenOf(await read());
    load(2);
    const lines = linesOf(await since(token)).map(({ change, id }) => [change, id]);
    expect(lines).to.deep.equal([
      ['delete', 'ord_1'],
      ['delete', 'ord_2'],
      ['put', 'tkt_1'],
      ['put', 'tkt_2'],
      ['end', undefined],
    ]);
  });

  it('has the last line alone when nothing changed, for the same snapshot and for a later one', async () => {
    const first = await read('', { as: 'south' });
    const token = tokenOf(first);
    expect((await read(`?since=${token}`, { as: 'south' })).text).to.equal(
      `${first.text.trimEnd().split('\n').at(-1)}\n`,
    );
    load(2);
    const later = await read(`?since=${token}`, { as: 'south' });
    expect(namesOf(later)).to.deep.equal(['end']);
    expect(tokenOf(later)).not.to.equal(token);
  });

  it('has the collections of the request, also with a token that has more of them', async () => {
    const token = tokenOf(await read());
    load(1);
    const lines = linesOf(await since(token, '&collections=orders'));
    expect(lines.map(({ change }) => change)).to.deep.equal(['delete', 'end']);
    expect(lines.at(-1)).to.deep.include({ counts: { orders: 8 } });
    expect(namesOf(await since(lines.at(-1)?.next ?? '', '&collections=orders'))).to.deep.equal(['end']);
  });

  describe('resets a copy, by 200,', () => {
    it('whose token lacks a collection of the request', async () => {
      const token = tokenOf(await read('?collections=orders'));
      expect(namesOf(await since(token))[0]).to.equal('reset');
    });

    it('of another organization, whose records it does not show', async () => {
      const token = tokenOf(await read('', { as: 'south' }));
      const response = await since(token);
      expect(response.text).to.equal((await read()).text);
      expect(response.text).to.include('north').and.not.include('south');
    });

    it('from a snapshot that is not in the history', async () => {
      const token = tokenOf(await read());
      const history = { ...snapshots[2].organizations[0].history, since: 2n ** 60n };
      stores.swap('a.sqlite', {
        ...snapshots[2],
        organizations: [{ ...snapshots[2].organizations[0], history }],
      });
      expect(namesOf(await since(token))[0]).to.equal('reset');
    });
  });

  describe('answers a token of a later snapshot', () => {
    let later: string;

    beforeEach(async () => {
      load(1);
      later = tokenOf(await read());
      stores = new StoreRegistry();
    });

    it('by 429 with Retry-After until it has loaded that snapshot or one after it', async () => {
      load(0);
      const refused = await since(later);
      expect(refused.status).to.equal(429);
      expect(refused.headers['retry-after']).to.match(/^[1-9]\d*$/);
      load(2);
      expect(namesOf(await since(later))).to.deep.equal(['delete', 'put', 'end']);
    });

    it('by a reset when the snapshot does not arrive in time after the first request', async () => {
      load(0);
      now = 100 * WAIT_MS;
      const answers = [];
      for (const step of [0, WAIT_MS - 1, 1, WAIT_MS]) {
        now += step;
        answers.push((await since(later)).status);
      }
      expect(answers).to.deep.equal([429, 429, 200, 200]);
      expect(namesOf(await since(later))[0]).to.equal('reset');
    });

    it('by a reset at once after a rollback, and goes on when that is undone', async () => {
      load(1);
      load(0);
      const reset = await since(later);
      expect(namesOf(reset)[0]).to.equal('reset');
      load(2);
      expect(namesOf(await since(tokenOf(reset)))).to.deep.equal(['delete', 'delete', 'put', 'put', 'end']);
    });
  });

  it('refuses malformed parameters, all of them at once', async () => {
    const refusedBy = async (query: string) =>
      (await read(query)).body.errors.map(({ loc, input }) => `${loc} ${input}`);
    const token = tokenOf(await read());
    for (const text of ['', 'x', 'W10', token.slice(1), `${token}A`, token.toLowerCase()])
      expect(await refusedBy(`?since=${text}`), text).to.deep.equal([`query.since ${text}`]);
    for (const text of ['', 'tickets,', 'Tickets', 'deletions'])
      expect(await refusedBy(`?collections=${text}`), text).to.deep.equal([`query.collections ${text}`]);
    expect(await refusedBy('?since=x&collections=y')).to.have.members([
      'query.since x',
      'query.collections y',
    ]);
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
      api.clock.now = Date.parse(now);
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
