import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import ts from 'typescript';
import { type Copy, type Filters, FoyerClient, type PageFilters } from '../../client/src/foyer-client.ts';
import { Collection, List } from '../../client/src/list.ts';
import {
  type ListOperation,
  OPERATIONS,
  type Parameter,
  parametersOf,
} from '../../src/contract/operations.ts';
import { PREVIEW, RELEASES, STABLE, VERSION_HEADER } from '../../src/contract/releases.ts';
import { folderForAll } from '../support/temporary-folder.ts';

const LISTS = OPERATIONS.filter((each): each is ListOperation => each.kind === 'list');

/** A copy that no round reaches. */
const COPY = {} as Copy;

interface Sent {
  readonly url: URL;
  readonly headers: Headers;
}

/** Sends the requests of some work to nowhere, and returns them. */
async function sentBy(work: (client: FoyerClient) => Promise<unknown>): Promise<Sent[]> {
  const sent: Sent[] = [];
  const client = new FoyerClient({
    baseUrl: 'https://tickets.example.org',
    credential: 'svc:o:north:secret',
    maxAttempts: 1,
    fetch: (url, init) => {
      sent.push({ url: new URL(new Request(url).url), headers: new Headers(init?.headers) });
      return Promise.resolve(new Response(null, { status: 204 }));
    },
  });
  await work(client);
  return sent;
}

/** Returns every list of a client. */
function listsOf(client: FoyerClient) {
  const members: readonly unknown[] = Object.values(client);
  return [...members, client.events.sessions('{event_id}')].filter((member) => member instanceof List);
}

/** Returns the example of a parameter, as a caller of the client writes it. */
function valueOf({ kind, example }: Parameter): unknown {
  if (example === undefined) throw new TypeError('the parameter has no example');
  const value = kind.read(example);
  return typeof value === 'bigint' ? example : value;
}

/** Returns the filters that have the examples of an operation's parameters. */
function filtersOf(parameters: readonly Parameter[]): Record<string, unknown> {
  const filters: Record<string, Record<string, unknown>> = {};
  for (const parameter of parameters) {
    const [name, bound] = parameter.name.split('.', 2) as [string, string?];
    if (bound === undefined) Object.assign(filters, { [name]: valueOf(parameter) });
    else filters[name] = { ...filters[name], [bound]: valueOf(parameter) };
  }
  return filters;
}

/** Returns the description that an editor shows for each property of the type in a file. */
function descriptionsIn(file: string): Record<string, string> {
  const program = ts.createProgram([file], {
    ...{ lib: ['lib.es5.d.ts'], types: [], module: ts.ModuleKind.NodeNext },
    ...{ strict: true, allowImportingTsExtensions: true, noEmit: true },
  });
  const checker = program.getTypeChecker();
  const type = program.getSourceFile(file)?.statements.find(ts.isTypeAliasDeclaration);
  if (type === undefined) throw new Error(`${file} has no type`);
  const properties = checker.getTypeAtLocation(type).getProperties();
  return Object.fromEntries(
    properties.map((each) => [each.name, ts.displayPartsToString(each.getJsDocTags(checker)[0]?.text)]),
  );
}

describe('The TypeScript client and the contract', () => {
  const inFolder = folderForAll();

  it('have the same operations, each in a version that has it', async () => {
    const sent = await sentBy(async (client) => {
      for (const list of listsOf(client)) {
        await list.pages().next();
        // A body is not needed to see the request.
        if (list instanceof Collection) await list.get('{id}').catch(() => undefined);
      }
      await client.sync(COPY).catch(() => undefined);
    });
    const released = RELEASES.flatMap(({ operations }) => operations);
    const expected = OPERATIONS.map(({ id, path }) => [
      path.replace(/\{\w+\}$/, '{id}'),
      released.includes(id) ? STABLE : PREVIEW,
    ]);
    expect(
      sent.map(({ url, headers }) => [decodeURI(url.pathname), headers.get(VERSION_HEADER)]),
    ).to.have.deep.members(expected);
  });

  for (const operation of LISTS) {
    it(`have the same parameters: ${operation.id}`, async () => {
      const parameters = operation.parameters.filter(({ role }) => role.is !== 'contentDigest');
      const sent = await sentBy(async (client) => {
        for (const list of listsOf(client)) await list.pages(filtersOf(parameters)).next();
      });
      const query = sent.find(({ url }) => decodeURI(url.pathname) === operation.path)?.url.searchParams;
      const read = parameters.map(({ name, kind }) => [name, kind.read(query?.get(name) ?? '')]);
      expect(read).to.deep.equal(
        parameters.map(({ name, kind, example }) => [name, kind.read(example ?? '')]),
      );
      expect(query?.size).to.equal(parameters.length);
    });
  }

  it('have the same parameters: readChanges', async () => {
    const options = { collections: ['tickets', 'orders'], eventIds: ['a', 'b'] } as const;
    const sent = { since: 'token', ...options };
    const [{ url }] = await sentBy((client) => client.sync(COPY, sent.since, options).catch(() => undefined));
    const parameters = OPERATIONS.flatMap((each) => (each.kind === 'changes' ? parametersOf(each) : []));
    const received = Object.fromEntries(
      parameters.map(({ name, kind }) => [name, kind.read(url.searchParams.get(name) ?? '')]),
    );
    expect(received).to.deep.equal(sent);
  });

  it('have the same descriptions of filters, in editors', () => {
    const contract = fileURLToPath(new URL('../../client/src/contract.ts', import.meta.url));
    const file = inFolder('filters.ts');
    writeFileSync(
      file,
      `import type { PageFilters } from '${contract}';\ntype Offers = PageFilters<'listOffers'>;\n`,
    );
    const { createdAt, ...descriptions } = descriptionsIn(file);
    expect(createdAt).to.equal('');
    const plain = LISTS.flatMap(({ id, parameters }) => (id === 'listOffers' ? parameters : [])).filter(
      ({ name, role }) => role.is !== 'contentDigest' && !name.includes('.'),
    );
    expect(Object.keys(descriptions)).to.have.members(plain.map(({ name }) => name));
    for (const { name, description } of plain) expect(descriptions[name]).to.include(description);
  });

  it('have the same types of filters', () => {
    const tickets: Required<PageFilters<'listTickets'>> = {
      ...{ page: 2, perPage: 100, updatedAt: { gte: new Date(), lte: '2026-01-01T00:00:00Z' } },
      ...{ eventIds: ['a'], sessionIds: ['b'], qrCodes: ['c'], orderIds: ['d'] },
    };
    // @ts-expect-error a window needs bounds
    const bare: Filters<'listTickets'> = { updatedAt: new Date() };
    // @ts-expect-error tickets have no bound `gt`
    const bound: Filters<'listTickets'> = { updatedAt: { gt: new Date() } };
    // @ts-expect-error there is no such filter
    const unknown: Filters<'listTickets'> = { eventId: 'a' };
    // @ts-expect-error a stream has no pages
    const stream: Parameters<FoyerClient['tickets']['stream']>[0] = { perPage: 5 };
    // @ts-expect-error there is no such status
    const status: Filters<'listOrders'> = { status: 'PAID' };
    expect([tickets, bare, bound, unknown, stream, status]).to.have.length(6);
  });
});
