import { type ListOperation, OPERATIONS } from '../../../src/contract/operations.ts';
import { type ParameterValues, queryReader, type QueryReader } from '../../../src/http/checks/query.ts';
import { Problem } from '../../../src/http/response/problem.ts';

const readers = new Map<ListOperation, QueryReader>();

/** Reads parameters from their texts as a request does; undefined when the query is invalid. */
export function readValues(
  operation: ListOperation,
  texts: Iterable<readonly [name: string, text: string]>,
): ParameterValues | undefined {
  const read = readers.get(operation) ?? queryReader(operation.parameters);
  readers.set(operation, read);
  const query = Map.groupBy(texts, ([name]) => name);
  try {
    const values = new Map(query.entries().map(([name, parts]) => [name, parts.map(([, text]) => text)]));
    return read({ values, violations: [] });
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

export function listOperation(operationId: string): ListOperation {
  const operation = OPERATIONS.find(({ id }) => id === operationId);
  if (operation?.kind !== 'list') throw new TypeError(`${operationId} is not a list operation`);
  return operation;
}
