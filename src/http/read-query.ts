import type { ListOperation } from '../contract/operations.ts';
import { planList } from '../query/plan.ts';
import type { Plan } from '../query/plan.ts';
import type { Exchange } from './exchange.ts';
import { ignoredParameters } from './ignored-parameters.ts';
import { parseQuery } from './query-string.ts';
import { queryValidator } from './validate-query.ts';
import type { ParameterValues } from './validate-query.ts';

/** What a query of a list operation says. */
interface ReadQuery {
  readonly values: ParameterValues;
  readonly plan: Plan;
}

/**
 * Reads the queries of a list operation, and notes what is ignored of each.
 * @returns a function that throws Problem 400 when a query is not valid
 */
export function queryReader(operation: ListOperation): (text: string, exchange: Exchange) => ReadQuery {
  const validate = queryValidator(operation);
  return (text, exchange) => {
    const query = parseQuery(text);
    exchange.ignoredParameters = ignoredParameters(query, operation.parameters);
    const values = validate(query);
    return { values, plan: planList(operation, values) };
  };
}
