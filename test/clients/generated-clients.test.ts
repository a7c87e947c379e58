import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { fieldsIn, type Json } from '../../src/contract/field.ts';
import { COLLECTION_NAMES, RESOURCES } from '../../src/contract/resources.ts';
import { ROOT } from '../support/command.ts';
import { needs } from '../support/components.ts';
import { ReplicaUnderTest } from '../support/replica-under-test.ts';
import { close, listen } from '../support/serve.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { GENERATORS, PROGRAMS } from './generators.ts';
import { ADDED_FIELD, laterRelease } from './later-release.ts';
import { run as runCommand } from './run.ts';
import { FULL_IDS, isOptional, placeSparse } from './sparse-import.ts';

type JsonObject = Readonly<Record<string, Json>>;

interface Page extends JsonObject {
  readonly items: readonly JsonObject[];
  readonly totalPages: number;
  readonly nextPage: string | null;
}

describe('A client generated from the OpenAPI document of a replica by', () => {
  const inFolder = folderForAll();
  let replica: ReplicaUnderTest;
  let later: Server;
  let laterOrigin: string;
  let document: string;
  let input: JsonObject;
  let lists: Readonly<Record<(typeof COLLECTION_NAMES)[number], Page>>;
  let expected: unknown;

  before(async () => {
    const key = await placeSparse(inFolder);
    replica = await ReplicaUnderTest.startReady(inFolder);
    later = laterRelease(replica.origin);
    laterOrigin = `http://127.0.0.1:${await listen(later)}`;

    /** Reads a response as `curl` would. */
    const textOf = async (target: string) =>
      (await replica.request(target, key, { 'Service-API-Version': 'preview' })).text;
    const pageOf = async (target: string) => JSON.parse(await textOf(target)) as Page;
    const recordOf = async (target: string) => JSON.parse(await textOf(target)) as JsonObject;
    const { eventId, ticketId, orderId, offerId } = FULL_IDS;
    document = await textOf('/openapi.json');
    lists = {
      events: await pageOf('/v1/events?perPage=100'),
      sessions: await pageOf(`/v1/events/${eventId}/sessions`),
      tickets: await pageOf('/v1/tickets?perPage=100'),
      orders: await pageOf('/v1/orders?perPage=100'),
      offers: await pageOf('/v1/catalog/offers?perPage=100'),
    };
    const event = await recordOf(`/v1/events/${eventId}`);
    const ticket = await recordOf(`/v1/tickets/${ticketId}`);
    const order = await recordOf(`/v1/orders/${orderId}`);
    const offer = await recordOf(`/v1/catalog/offers/${offerId}`);

    const perPage = lists.tickets.items.length - 1;
    const first = await pageOf(`/v1/tickets?perPage=${perPage}`);
    const second = await pageOf(first.nextPage ?? '');
    const eventIds = [eventId, 'another'];
    input = {
      key,
      eventIds,
      from: '2000-01-01T00:00:00+01:00',
      until: '2100-01-01T00:00:00+01:00',
      perPage,
      ...FULL_IDS,
    };
    expected = comparable({
      pages: [lists.events, lists.sessions, first, second, lists.orders, lists.offers],
      records: [event, ticket, order, offer],
      values: [...valuesAt(event, 'venueAddress.city'), ...valuesAt(offer, 'inventory.availableStock')],
      refused: 'query.updatedAt.gte',
      changes: ['reset', ...lists.offers.items.map(() => 'put'), 'end'],
    });
  });

  after(async () => {
    await close(later);
    await replica.end();
  });

  it('(each optional field has a value in some record, and none in another one)', () => {
    for (const name of COLLECTION_NAMES) {
      const { items, totalPages } = lists[name];
      expect(totalPages, name).to.equal(1);
      for (const [type, fields] of Object.entries(RESOURCES[name].variants)) {
        const records = items.filter((record) => type === '' || record['type'] === type);
        for (const [path, field] of fieldsIn(fields)) {
          const values = records.flatMap((record) => valuesAt(record, path.replaceAll('[]', '')));
          expect(values.some(isPresent), `a value of ${type} ${name} ${path}`).to.equal(true);
          expect(values.every(isPresent), `a value of ${type} ${name} ${path} in each`).to.equal(
            !isOptional(field),
          );
        }
      }
    }
  });

  for (const { name, shared, components = [], environment, prepare, ...commands } of GENERATORS) {
    const { generate, compile, run } = commands;
    describe(name, () => {
      needs(...components);

      const sh = (command: string, url = replica.origin) =>
        runCommand(command, inFolder(name), {
          ...environment,
          DOCUMENT: `${replica.origin}/openapi.json`,
          INPUT: JSON.stringify({ url, ...input }),
        });

      before(async () => {
        for (const folder of [name, ...(shared ? [shared] : [])])
          cpSync(join(PROGRAMS, folder), inFolder(name), { recursive: true });
        symlinkSync(join(ROOT, 'node_modules'), join(inFolder(name), 'node_modules'));
        writeFileSync(join(inFolder(name), 'openapi.json'), document);
        if (prepare !== undefined) await sh(prepare);
      });

      it('is described in docs/integrators.md, with the same command', () => {
        const command = generate.replace('$DOCUMENT', '$FOYER_URL/openapi.json');
        expect(readFileSync(join(ROOT, 'docs/integrators.md'), 'utf8')).to.include(command);
      });

      it(`is generated: ${generate}`, async () => {
        await sh(generate);
      });

      it(`compiles: ${compile}`, async () => {
        await sh(compile);
      });

      if (run === undefined) return;

      it('reads all lists, two pages of tickets of two events in a window, a record of each kind, a violation, and the changes', async () => {
        expect(comparable(JSON.parse(await sh(run)) as Json)).to.deep.equal(expected);
      });

      it('reads the same of a later release, which adds a field to every object', async () => {
        expect(comparable(JSON.parse(await sh(run, laterOrigin)) as Json)).to.deep.equal(expected);
      });
    });
  }
});

/** Returns the values at a path such as `inventory.weightInGrams`, in all elements of lists. */
function valuesAt(value: Json, path: string): Json[] {
  if (value === null || typeof value !== 'object') return [];
  if (isList(value)) return value.flatMap((element) => valuesAt(element, path));
  const [name, ...rest] = path.split('.');
  return rest.length === 0 ? [value[name]] : valuesAt(value[name], rest.join('.'));
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isPresent(value: Json): boolean {
  return value !== null && !(isList(value) && value.length === 0);
}

/** Removes nulls, which some clients do not write, added fields, and links, in which clients order parameters. */
function comparable(value: Json): unknown {
  return JSON.parse(JSON.stringify(value), (name, value: unknown) =>
    value === null || name === ADDED_FIELD || name === 'nextPage' ? undefined : value,
  );
}
