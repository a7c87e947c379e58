import type { ListOperation } from '../contract/operations.ts';
import { planList } from '../query/plan.ts';
import type { Plan } from '../query/plan.ts';
import type { Exchange } from './exchange.ts';
import { ignoredParameters } from './ignored-parameters.ts';
import { parseQuery } from './query-string.ts';
import { RecentValues } from './recent-values.ts';
import { queryValidator } from './validate-query.ts';
import type { ParameterValues } from './validate-query.ts';

/** What a query of a list operation says. That depends on its text alone. */
interface ReadQuery {
  readonly ignored: string | undefined;
  readonly values: ParameterValues;
  readonly plan: Plan;
}

/** For each operation. */
const MOST_REMEMBERED = 500;
/** Characters. */
const LONGEST_REMEMBERED = 500;

/**
 * Reads the queries of a list operation, and notes what is ignored of each. Those of lately are remembered: who polls
 * asks the same again, and to read that anew takes longer than to find the rows.
 * @returns a function that throws Problem 400 when a query is not valid
 */
export function queryReader(operation: ListOperation): (text: string, exchange: Exchange) => ReadQuery {
  const validate = queryValidator(operation);
  const recent = new RecentValues<ReadQuery>(MOST_REMEMBERED);
  return (text, exchange) => {
    const known = recent.get(text);
    if (known !== undefined) {
      exchange.ignoredParameters = known.ignored;
      return known;
    }
    const query = parseQuery(text);
    const ignored = ignoredParameters(query, operation.parameters);
    exchange.ignoredParameters = ignored;
    const values = validate(query);
    const read: ReadQuery = { ignored, values, plan: planList(operation, values) };
    if (text.length <= LONGEST_REMEMBERED) recent.set(text, read);
    return read;
  };
}
