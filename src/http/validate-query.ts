import { Ajv } from 'ajv';
import type { ErrorObject } from 'ajv';
import type { ListOperation, Parameter } from '../contract/operations.ts';
import { Problem } from './problem.ts';
import type { Violation } from './problem.ts';
import type { Query } from './query-string.ts';

/** The valid text of each parameter given, by name, in the order of the request. */
export type ParameterValues = ReadonlyMap<string, string>;

/** @throws Problem 400 with all violations, in the order in which the parameters are declared. */
export type QueryValidator = (query: Query) => ParameterValues;

const GIVEN_TWICE = 'must be given once';

/** The check of a list operation's query, made from the parameters it declares; unknown names are left aside. */
export function queryValidator({ parameters }: ListOperation): QueryValidator {
  const declared = new Set(parameters.map(({ name }) => name));
  const validate = compile(parameters);
  return (query) => {
    const given: Record<string, string | readonly string[]> = {};
    const values = new Map<string, string>();
    for (const [name, texts] of query) {
      if (!declared.has(name)) continue;
      given[name] = texts.length === 1 ? texts[0] : texts;
      values.set(name, texts[0]);
    }
    if (values.size > 0 && !validate(given)) {
      const errors = violationsOf(validate.errors ?? [], parameters, query);
      throw new Problem(400, 'The query is not valid; errors has what is wrong with it.', { errors });
    }
    return values;
  };
}

/** Every parameter is one text, and every rule of its kind a format that ajv tests it for. */
function compile(parameters: readonly Parameter[]) {
  const ajv = new Ajv({ allErrors: true });
  const properties: Record<string, object> = {};
  for (const { name, kind } of parameters) {
    for (const rule of kind.rules) ajv.addFormat(rule.name, { type: 'string', validate: rule.accepts });
    properties[name] = { type: 'string', allOf: kind.rules.map((rule) => ({ format: rule.name })) };
  }
  return ajv.compile({ type: 'object', properties });
}

function violationsOf(
  errors: readonly ErrorObject[],
  parameters: readonly Parameter[],
  query: Query,
): Violation[] {
  return parameters.flatMap(({ name, kind }) => {
    const input = (query.get(name) ?? []).join(', ');
    return errors
      .filter(({ instancePath }) => instancePath === `/${name}`)
      .map(({ params }): Violation => {
        const rule = kind.rules.find((candidate) => candidate.name === params['format']);
        return { loc: `query.${name}`, input, ctx: rule === undefined ? GIVEN_TWICE : rule.ctx(input) };
      });
  });
}
