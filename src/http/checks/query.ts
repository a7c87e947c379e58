import { Ajv } from 'ajv';
import type { ErrorObject, FuncKeywordDefinition } from 'ajv';
import type { ListOperation } from '../../contract/operations.ts';
import { EXISTING_KEYWORD } from '../../contract/parameter.ts';
import type { ParameterValue } from '../../contract/parameter.ts';
import { parseTimestamp } from '../../contract/timestamp.ts';
import { Problem } from '../response/problem.ts';
import type { Violation } from '../response/problem.ts';
import type { Query } from './query-string.ts';

/** Validates a timestamp, and puts its instant in its place, so that none is parsed twice. */
const existing: FuncKeywordDefinition = {
  keyword: EXISTING_KEYWORD,
  type: 'string',
  schema: false,
  modifying: true,
  errors: false,
  validate: (
    text: string,
    context?: { parentData: Record<string, unknown>; parentDataProperty: string | number },
  ) => {
    const instant = parseTimestamp(text);
    if (instant !== undefined && context !== undefined)
      context.parentData[context.parentDataProperty] = instant;
    return instant !== undefined;
  },
};

/** One for all operations. The check of the schemas themselves is off: it would take most of the start. */
const ajv = new Ajv({ allErrors: true, meta: false, validateSchema: false, keywords: [existing] });

/** The values of the parameters given, by name. */
export type ParameterValues = Readonly<Record<string, ParameterValue>>;

/**
 * Reads and validates the parameters of a query that the operation has, and ignores others.
 * @throws Problem 400 with all violations, in the order in which the parameters are declared
 */
export type QueryReader = (query: Query) => ParameterValues;

const GIVEN_TWICE = 'must be given once';

/** Compiles the schemas of an operation's parameters. */
export function queryReader({ parameters }: ListOperation): QueryReader {
  const kinds = new Map(parameters.map(({ name, kind }) => [name, kind]));
  const validate = ajv.compile<ParameterValues>({
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, kind }) => [name, kind.schema])),
  });

  return (query) => {
    const values: Record<string, ParameterValue> = {};
    let isRepeated = false;
    for (const [name, texts] of query) {
      const kind = kinds.get(name);
      if (kind === undefined) continue;
      isRepeated ||= texts.length > 1;
      values[name] = kind.read(texts[0]);
    }
    if (validate(values) && !isRepeated) return values;
    const errors = violationsOf(query, validate.errors ?? []);
    throw new Problem(400, 'The query is not valid; errors has what is wrong with it.', { errors });
  };

  function violationsOf(query: Query, failures: readonly ErrorObject[]): Violation[] {
    return parameters.flatMap(({ name, kind }) => {
      const texts = query.get(name) ?? [];
      const input = texts.join(', ');
      const violated = failures
        .filter(({ instancePath }) => instancePath.split('/')[1] === name)
        .map(({ keyword }) => kind.ctx(keyword, input));
      const all = texts.length > 1 ? [GIVEN_TWICE] : new Set(violated);
      return Array.from(all, (ctx) => ({ loc: `query.${name}`, input, ctx }));
    });
  }
}
