import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { ROOT } from '../support/command.ts';
import { needs } from '../support/components.ts';
import { placeSample, ReplicaUnderTest } from '../support/replica-under-test.ts';
import { folderForAll } from '../support/temporary-folder.ts';
import { GENERATORS } from './generators.ts';

const PROGRAMS = fileURLToPath(new URL('programs/', import.meta.url));
const PACKAGES = join(ROOT, 'node_modules');

interface Page {
  readonly items: readonly Readonly<Record<string, never>>[];
  readonly totalPages: number;
}

describe('A client generated from the OpenAPI document of a replica by', () => {
  const inFolder = folderForAll();
  let replica: ReplicaUnderTest;
  let credential: string;
  let input: string;
  let expected: unknown;

  /** Requests a list as `curl` would. */
  async function list(target: string): Promise<Page> {
    const { status, text } = await replica.request(target, credential, { 'Service-API-Version': 'preview' });
    expect(status, text).to.equal(200);
    return JSON.parse(text) as Page;
  }

  before(async () => {
    credential = await placeSample(inFolder);
    replica = await ReplicaUnderTest.startReady(inFolder);
    const { items: events } = await list('/v1/events?perPage=2');
    const eventIds = events.map(({ id }) => id);
    const [from, until] = ['2000-01-01T00:00:00+01:00', '2100-01-01T00:00:00+01:00'];
    input = JSON.stringify({ url: replica.origin, key: credential, eventIds, from, until });

    const tickets = await list(`/v1/tickets?perPage=6&eventIds=${eventIds.join()}`);
    expect(tickets.items).to.have.length(6);
    const [[ticket], [product], [bundle]] = await Promise.all(
      ['TICKET', 'PRODUCT', 'BUNDLE'].map(
        async (type) => (await list(`/v1/catalog/offers?perPage=1&type=${type}`)).items,
      ),
    );
    const { totalPages: totalOffers } = await list('/v1/catalog/offers?perPage=1');
    expected = {
      tickets: tickets.items.map(({ ticketId, finalPaidPrice }) => [ticketId, finalPaidPrice]),
      offers: [
        valuesOf(ticket['inventory'], 'availableStock'),
        valuesOf(product['inventory'], 'weightInGrams'),
        valuesOf(bundle['contains'], 'offerId'),
      ],
      refused: ['query.page'],
      changes: ['reset', ...Array.from({ length: totalOffers }, () => 'put'), 'end'],
    };
  });

  after(() => replica.end());

  for (const { name, program, component, environment, prepare, generate, compile, run } of GENERATORS) {
    describe(name, () => {
      if (component !== undefined) needs(component);

      /** Runs a command that succeeds. Returns its standard output. */
      const sh = (command: string) => {
        const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
          cwd: inFolder(program),
          env: {
            ...process.env,
            PATH: `${join(PACKAGES, '.bin')}:${process.env['PATH'] ?? ''}`,
            DOCUMENT: `${replica.origin}/openapi.json`,
            INPUT: input,
            ...environment,
          },
          encoding: 'utf8',
        });
        expect(status, stdout + stderr).to.equal(0);
        return stdout;
      };

      before(() => {
        cpSync(join(PROGRAMS, program), inFolder(program), { recursive: true });
        symlinkSync(PACKAGES, join(inFolder(program), 'node_modules'));
        if (prepare !== undefined) sh(prepare);
      });

      it('is described in docs/integrators.md, with the same command', () => {
        const command = generate.replace('$DOCUMENT', '$FOYER_URL/openapi.json');
        expect(readFileSync(join(ROOT, 'docs/integrators.md'), 'utf8')).to.include(command);
      });

      it(`is generated: ${generate}`, () => {
        sh(generate);
      });

      it(`compiles: ${compile}`, () => {
        sh(compile);
      });

      it('lists tickets of two events in a window, a further page, an offer of each type, the violations of a query, and the changes', () => {
        expect(JSON.parse(sh(run))).to.deep.equal(expected);
      });
    });
  }
});

function valuesOf(entries: readonly Readonly<Record<string, unknown>>[], name: string): unknown[] {
  return entries.map(({ [name]: value }) => value);
}
