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
      const headers = { 'Service-API-Version': 'preview' };

      // No parameter may have a broken encoding, so each is refused by name; an unknown name is reported as ignored.
      const query = CANDIDATES.map((name) => `${name}=%`).join('&');
      const response = await given.api.send(`${target}?${query}`, { headers });
      const refused =
        documented.length === 0 ? [] : response.body.errors.map(({ loc }) => loc.replace('query.', ''));
      const ignored = response.headers['service-api-ignored-parameters'].split(', ');
      expect(refused).to.have.members(documented);
      expect([...refused, ...ignored].sort()).to.deep.equal(CANDIDATES.toSorted());
    });
  }
});
