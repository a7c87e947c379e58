import { isDeepStrictEqual } from 'node:util';
import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { exampleOf } from '../../src/contract/field.ts';
import { openApiDocument } from '../../src/contract/openapi/document.ts';
import { PUBLIC_RESPONSES } from '../../src/contract/openapi/public-paths.ts';
import { SHARED_RESPONSES } from '../../src/contract/openapi/responses.ts';
import { OPERATIONS, parametersOf } from '../../src/contract/operations.ts';
import { RESOURCES } from '../../src/contract/resources.ts';
import { RELEASES } from '../../src/contract/releases.ts';
import { queryReader } from '../../src/http/checks/query.ts';

interface ParameterObject {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: {
    readonly type: unknown;
    readonly default?: unknown;
    readonly examples?: readonly unknown[];
  };
}

interface Document {
  readonly paths: Record<
    string,
    {
      readonly get: {
        readonly operationId: string;
        readonly description: string;
        readonly security?: unknown;
        readonly parameters: readonly (ParameterObject | { readonly $ref: string })[];
        readonly responses: Record<string, { readonly content?: Record<string, { example: unknown }> }>;
      };
    }
  >;
  readonly components: { readonly parameters: Record<string, ParameterObject> } & Record<string, object>;
}

const asDocument = (document: object): Document => JSON.parse(JSON.stringify(document)) as Document;

const document = asDocument(openApiDocument(RELEASES));
const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }));
ajv.addSchema(document, 'openapi');

function expectValid(pointer: string, value: unknown): void {
  const validate = ajv.compile({ $ref: `openapi#${pointer}` });
  expect(validate(value), `${pointer}: ${ajv.errorsText(validate.errors)}`).to.equal(true);
}

const pointerOf = (...keys: string[]): string =>
  keys.map((key) => `/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');

function documentedParameters(path: string): ParameterObject[] {
  return document.paths[path].get.parameters.map((parameter) =>
    '$ref' in parameter
      ? document.components.parameters[parameter.$ref.replace('#/components/parameters/', '')]
      : parameter,
  );
}

describe('The OpenAPI document', () => {
  it('has every operation, at its path', () => {
    const documented = Object.entries(document.paths)
      .filter(([path]) => path.startsWith('/v1/'))
      .map(([path, { get }]) => [path, get.operationId]);
    expect(documented).to.deep.equal(OPERATIONS.map(({ path, id }) => [path, id]));
  });

  it('has the public paths that are served, without security', () => {
    const publicOf = ({ paths }: Document) =>
      Object.keys(paths).filter((path) => isDeepStrictEqual(paths[path].get.security, []));
    expect(publicOf(document)).to.deep.equal(['/', '/healthz', '/openapi.json', '/docs', '/explorer']);
    const without = asDocument(openApiDocument(RELEASES, '/', ['health', 'openApi']));
    expect(publicOf(without)).to.deep.equal(['/healthz', '/openapi.json']);
    expect(Object.keys(without.paths)).to.have.length(OPERATIONS.length + 2);
  });

  for (const operation of OPERATIONS) {
    describe(operation.id, () => {
      const declared = parametersOf(operation);

      it('has the declared parameters', () => {
        const names = (place: string) =>
          documentedParameters(operation.path)
            .filter((parameter) => parameter.in === place)
            .map(({ name }) => name);
        expect(names('query')).to.deep.equal(declared.map(({ name }) => name));
        const headers = ['Service-API-Version', 'X-Request-Id', 'If-None-Match'];
        expect(names('header')).to.deep.equal(operation.kind === 'changes' ? headers.slice(0, 2) : headers);
        expect(names('path')).to.deep.equal(
          [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
        );
      });

      it('has examples that query validation and the schemas accept', () => {
        const query = new Map(
          declared.flatMap(({ name, example }) =>
            example === undefined ? [] : [[name, [example]] as const],
          ),
        );
        expect(Object.keys(queryReader(declared)(query))).to.deep.equal([...query.keys()]);
        for (const { name, schema } of documentedParameters(operation.path)) {
          const validate = new Ajv2020({ strict: false }).compile(schema);
          for (const example of schema.examples ?? []) expect(validate(example), name).to.equal(true);
        }
        if (operation.kind === 'changes') return;
        const [media] = Object.values(document.paths[operation.path].get.responses['200'].content ?? {});
        const content = pointerOf('paths', operation.path, 'get', 'responses', '200', 'content');
        expectValid(`${content}${pointerOf('application/json', 'schema')}`, media.example);
      });

      it('has no example of a parameter that documentation tools would send', () => {
        for (const parameter of documentedParameters(operation.path))
          expect(parameter).not.to.have.property('example');
      });

      if (operation.kind === 'changes') return;

      it('has a valid example of every variant of its resource', () => {
        const { name, variants } = RESOURCES[operation.collection];
        for (const fields of Object.values(variants)) {
          expectValid(pointerOf('components', 'schemas', name), exampleOf(fields));
        }
      });
    });
  }

  for (const [name, response] of Object.entries({ ...SHARED_RESPONSES, ...PUBLIC_RESPONSES })) {
    if (!('content' in response)) continue;
    it(`has a valid example of ${name}`, () => {
      const { content } = asResponse(response);
      const pointer = pointerOf('components', 'responses', name, 'content', 'application/json', 'schema');
      expectValid(pointer, content['application/json'].example);
    });
  }

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

  it('marks the operations whose end is announced, and names the ends of versions', () => {
    const releases = RELEASES.map((release) => ({ ...release, end: { deprecated: '2027-01-01' } }));
    const end = { deprecated: '2027-01-01', sunset: '2027-06-01' };
    const operations = OPERATIONS.map((each) => (each.id === 'listOrders' ? { ...each, end } : each));
    const ending = asDocument(openApiDocument(releases, undefined, [], operations));
    const [orders, tickets] = ['/v1/orders', '/v1/tickets'].map((path) => ending.paths[path].get);
    expect(orders).to.have.property('deprecated', true);
    expect(orders.description).to.include('deprecated from 2027-01-01, and ends on 2027-06-01.');
    expect(tickets).not.to.have.property('deprecated');
    expect(ending)
      .to.have.nested.property('info.description')
      .that.includes('The stable version of 2026-10-01 is deprecated from 2027-01-01.');
  });

  it('follows the releases and the address', () => {
    const graduated = asDocument(
      openApiDocument(
        [...RELEASES, { date: '2027-03-01', operations: ['listOffers', 'getOffer'] }],
        'https://api.example.org',
      ),
    );
    expect(graduated).to.have.nested.property('info.version', '2027.3.1');
    expect(graduated).to.have.nested.property('servers[0].url', 'https://api.example.org');
    expect(graduated.paths['/v1/catalog/offers'].get.description).to.include('Released 2027-03-01');
    expect(graduated.paths['/v1/catalog/offers'].get.parameters).to.deep.include({
      $ref: '#/components/parameters/Version',
    });
  });
});

function asResponse(response: object): { content: Record<string, { example: unknown }> } {
  return JSON.parse(JSON.stringify(response)) as { content: Record<string, { example: unknown }> };
}
