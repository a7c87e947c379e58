import { expect } from 'chai';
import { openApiDocument } from '../../src/contract/openapi/document.ts';
import { OPERATIONS, parametersOf } from '../../src/contract/operations.ts';
import { RELEASES } from '../../src/contract/releases.ts';
import { givenApi } from '../support/test-api.ts';

interface Documented {
  readonly paths: Record<
    string,
    { readonly get: { readonly parameters: readonly { name?: string; in?: string }[] } }
  >;
}

/** The name of every parameter without its suffix, with each suffix of bounds, and some unknown ones. */
const CANDIDATES = [
  ...new Set(OPERATIONS.flatMap(parametersOf).map(({ name }) => name.split('.')[0])),
  'issuedAt',
].flatMap((name) => [name, ...['gt', 'gte', 'lt', 'lte', 'ne', 'eq'].map((suffix) => `${name}.${suffix}`)]);

describe('The documented parameters are the accepted ones', () => {
  const given = givenApi();
  const { paths } = JSON.parse(JSON.stringify(openApiDocument(RELEASES))) as Documented;

  for (const { path } of OPERATIONS) {
    it(path, async () => {
      const documented = paths[path].get.parameters.flatMap(({ name, in: place }) =>
        place === 'query' ? [name ?? ''] : [],
      );
      const target = path.replace(/\{\w+\}/, 'evt_a');
      const headers = { 'Service-API-Version': 'preview', Prefer: 'handling=strict' };

      // No parameter may have a broken encoding, so each is refused by name. Strict handling refuses unknown names, too:
      // up to 100 in a response.
      const all = [CANDIDATES.slice(0, 100), CANDIDATES.slice(100)].map(async (names) => {
        const query = names.map((name) => `${name}=%`).join('&');
        const { body } = await given.api.send(`${target}?${query}`, { headers });
        return body.errors;
      });
      const errors = Map.groupBy((await Promise.all(all)).flat(), ({ ctx }) => ctx.includes('encod'));
      const [refused, unknown] = [true, false].map((is) =>
        (errors.get(is) ?? []).map(({ loc }) => loc.replace('query.', '')),
      );
      expect(refused).to.have.members(documented);
      expect([...refused, ...unknown].sort()).to.deep.equal(CANDIDATES.toSorted());
    });
  }
});
