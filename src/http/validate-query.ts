import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';
import type { ListOperation, Parameter } from '../contract/operations.ts';
import type { ParameterKind, TextRule } from '../contract/parameter.ts';
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
  const validators = new Map(parameters.map((parameter) => [parameter.name, validatorOf(parameter)]));
  return (query) => {
    const values = new Map<string, string>();
    let isValid = true;
    for (const [name, texts] of query) {
      const validate = validators.get(name);
      if (validate === undefined) continue;
      const [text] = texts;
      isValid &&= texts.length === 1 && validate(text);
      values.set(name, text);
    }
    if (!isValid) {
      const errors = violationsOf(parameters, validators, query);
      throw new Problem(400, 'The query is not valid; errors has what is wrong with it.', { errors });
    }
    return values;
  };
}

/** One for all: the check of its own schemas, of which ours has no need, takes most of its start. */
const ajv = new Ajv({ allErrors: true, meta: false, validateSchema: false });
const ofKind = new Map<ParameterKind, ValidateFunction<string>>();

/** A parameter is one text, and every rule of its kind a format that ajv tests it for. */
function validatorOf({ kind }: Parameter): ValidateFunction<string> {
  let validate = ofKind.get(kind);
  if (validate === undefined) {
    for (const rule of kind.rules) addFormat(rule);
    validate = ajv.compile<string>({
      type: 'string',
      allOf: kind.rules.map(({ name }) => ({ format: name })),
    });
    ofKind.set(kind, validate);
  }
  return validate;
}

const byName = new Map<string, TextRule>();

function addFormat(rule: TextRule): void {
  if (byName.get(rule.name) === rule) return;
  if (byName.has(rule.name)) throw new TypeError(`two rules have the name ${rule.name}`);
  byName.set(rule.name, rule);
  ajv.addFormat(rule.name, { type: 'string', validate: rule.accepts });
}

function violationsOf(
  parameters: readonly Parameter[],
  validators: ReadonlyMap<string, ValidateFunction<string>>,
  query: Query,
): Violation[] {
  return parameters.flatMap(({ name, kind }) => {
    const texts = query.get(name) ?? [];
    const validate = validators.get(name);
    if (texts.length === 0 || validate === undefined) return [];
    const input = texts.join(', ');
    const violation = (ctx: string): Violation => ({ loc: `query.${name}`, input, ctx });
    if (texts.length > 1) return [violation(GIVEN_TWICE)];
    validate(input);
    return (validate.errors ?? []).flatMap(({ params }) => {
      const rule = kind.rules.find((candidate) => candidate.name === params['format']);
      return rule === undefined ? [] : [violation(rule.ctx(input))];
    });
  });
}
