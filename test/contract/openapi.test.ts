import { expect } from 'chai';
import { Linter } from 'eslint';
import regexp from 'eslint-plugin-regexp';
import { openApiDocument } from '../../src/contract/openapi/document.ts';
import { OPERATIONS, parametersOf } from '../../src/contract/operations.ts';
import { RELEASES } from '../../src/contract/releases.ts';
import { queryReader } from '../../src/http/checks/query.ts';

interface ParameterObject {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: { readonly default?: unknown };
}

interface Document {
  readonly paths: Record<
    string,
    {
      readonly get: {
        readonly description: string;
        readonly parameters: readonly (ParameterObject | { readonly $ref: string })[];
        readonly responses: Record<string, { readonly content?: object }>;
      };
    }
  >;
  readonly components: { readonly parameters: Record<string, ParameterObject> } & Record<string, object>;
}

const asDocument = (document: object): Document => JSON.parse(JSON.stringify(document)) as Document;

const document = asDocument(openApiDocument(RELEASES));

function documentedParameters(path: string): ParameterObject[] {
  return document.paths[path].get.parameters.map((parameter) =>
    '$ref' in parameter
      ? document.components.parameters[parameter.$ref.replace('#/components/parameters/', '')]
      : parameter,
  );
}

/** Returns the parts of a pattern that need more than linear time for some text. */
function slowParts(pattern: string): string[] {
  const rules = ['no-super-linear-backtracking', 'no-super-linear-move'].map(
    (rule): [string, Linter.RuleEntry] => [`regexp/${rule}`, ['error', { report: 'potential' }]],
  );
  const code = `new RegExp(${JSON.stringify(pattern)}, 'u');`;
  return new Linter()
    .verify(code, [{ plugins: { regexp }, rules: Object.fromEntries(rules) }])
    .map(({ message }) => message);
}

describe('The OpenAPI document', () => {
  it('has examples of parameters that are valid together, and that documentation tools do not send', () => {
    for (const operation of OPERATIONS) {
      const declared = parametersOf(operation);
      const values = new Map(
        declared.flatMap(({ name, example }) => (example === undefined ? [] : [[name, [example]] as const])),
      );
      expect(Object.keys(queryReader(declared)({ values, violations: [] }))).to.deep.equal([
        ...values.keys(),
      ]);
      for (const parameter of documentedParameters(operation.path))
        expect(parameter).not.to.have.property('example');
    }
  });

  it('has patterns that need linear time for any text', () => {
    const patterns = JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g);
    const slow = [...patterns].flatMap(([, pattern]) => slowParts(JSON.parse(pattern) as string));
    expect(slow).to.deep.equal([]);
    expect(['^(a+)+$', 'a+$'].map((pattern) => slowParts(pattern).length)).to.deep.equal([1, 1]);
  });

  it('has no name twice, in any sections or letter case, since generators have one type for each', () => {
    const { securitySchemes, ...sections } = document.components;
    expect(securitySchemes).to.have.all.keys('apiKey');
    const names = Object.values(sections).flatMap((section) =>
      Object.keys(section).map((name) => name.replaceAll(/\W/g, '').toLowerCase()),
    );
    expect(names.filter((name, i) => names.indexOf(name) !== i)).to.deep.equal([]);
  });

  it('has one media type for each response, so that a generated client has one type for its body', () => {
    for (const { get } of Object.values(document.paths))
      for (const { content = {} } of Object.values(get.responses))
        expect(Object.keys(content)).to.have.length.below(2);
  });

  it('allows any request id of a client, and states the form of those in responses', () => {
    const ofRequest = documentedParameters('/v1/events').find(({ name }) => name === 'X-Request-Id');
    expect(ofRequest?.schema).to.deep.equal({ type: 'string' });
    expect(document).to.have.nested.property('components.headers.X-Request-Id.schema.pattern');
  });

  it('requires the version header for preview operations alone, with the default preview', () => {
    const header = (path: string) => {
      const found = documentedParameters(path).find(({ name }) => name === 'Service-API-Version');
      return [found?.required === true, found?.schema.default];
    };
    expect(header('/v1/catalog/offers')).to.deep.equal([true, 'preview']);
    expect(header('/v1/catalog/offers/{offerId}')).to.deep.equal([true, 'preview']);
    expect(header('/v1/events')).to.deep.equal([false, 'stable']);
  });

  it('names the releases and the address', () => {
    const graduated = asDocument(
      openApiDocument(
        [...RELEASES, { date: '2027-03-01', operations: ['listOffers', 'getOffer'] }],
        'https://api.example.org',
      ),
    );
    expect(graduated).to.have.nested.property('info.version', '2027.3.1');
    expect(graduated).to.have.nested.property('servers[0].url', 'https://api.example.org');
    expect(graduated.paths['/v1/catalog/offers'].get.description).to.include(
      'In version `stable` from 2027-03-01',
    );
    expect(graduated.paths['/v1/catalog/offers'].get.parameters).to.deep.include({
      $ref: '#/components/parameters/Version',
    });
  });
});
