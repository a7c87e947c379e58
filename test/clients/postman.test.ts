import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { CACHE, PROGRAMS } from './generators.ts';
import { run } from './run.ts';
import { FULL_IDS, placeSparse } from './sparse-import.ts';

/** A folder of a collection, or a request. */
interface Entry {
  readonly item?: readonly Entry[];
  readonly request?: {
    readonly url: {
      readonly query: { readonly key: string; disabled: boolean }[];
      readonly variable: { readonly key: string; value: string }[];
    };
  };
}

describe('The collection that Postman imports from the OpenAPI document', () => {
  const inFolder = folderForAll();
  const environment = {
    PATH: `node_modules/.bin:${process.env['PATH'] ?? ''}`,
    npm_config_cache: join(CACHE, 'npm'),
  };
  const sh = (command: string) => run(command, inFolder('postman'), environment);
  let replica: ReplicaUnderTest;
  let variables: string;
  let operations: number;

  /** Sends the requests of a collection after the user has set the address and the key. Returns the statuses. */
  async function send(collection: string): Promise<number[]> {
    const log = await sh(`newman run ${collection} ${variables} --color off`);
    const statuses = Array.from(log.matchAll(/^ {2}GET .* \[(\d+) /gm), ([, status]) => Number(status));
    expect(statuses, log).to.have.length(operations);
    return statuses;
  }

  before(async () => {
    const key = await placeSparse(inFolder);
    replica = await ReplicaUnderTest.startReady(inFolder);
    variables = `--env-var baseUrl=${replica.origin} --env-var bearerToken=${key}`;
    const { text } = await replica.request('/openapi.json', key);
    operations = Object.keys((JSON.parse(text) as { paths: object }).paths).length;
    cpSync(join(PROGRAMS, 'postman'), inFolder('postman'), { recursive: true });
    writeFileSync(inFolder('postman/openapi.json'), text);
    await sh('npm ci --no-audit --no-fund');
    await sh('openapi2postmanv2 -s openapi.json -o collection.json');
  });

  after(() => replica.end());

  it('sends requests as imported: without ids, records are not found, and without times, queries are invalid', async () => {
    expect(new Set(await send('collection.json'))).to.deep.equal(new Set([200, 400, 404]));
  });

  it('succeeds with every request once ids are set, and the filters by time disabled', async () => {
    const collection = JSON.parse(readFileSync(inFolder('postman/collection.json'), 'utf8')) as Entry;
    setUp(collection);
    writeFileSync(inFolder('postman/set-up.json'), JSON.stringify(collection));
    expect(new Set(await send('set-up.json'))).to.deep.equal(new Set([200]));
  });
});

function setUp({ item = [], request }: Entry): void {
  const { eventId, ticketId, orderId, offerId } = FULL_IDS;
  const ids: Readonly<Record<string, string>> = {
    event_id: eventId,
    ticket_id: ticketId,
    order_id: orderId,
    offerId,
  };
  item.forEach(setUp);
  for (const parameter of request?.url.query ?? []) parameter.disabled = /At\.[a-z]+$/.test(parameter.key);
  for (const variable of request?.url.variable ?? []) variable.value = ids[variable.key];
}
