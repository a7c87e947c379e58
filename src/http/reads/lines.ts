import { NDJSON_TYPE } from '../../contract/headers.ts';
import type { ListOperation, ListParameter } from '../../contract/operations.ts';
import type { ParameterKind } from '../../contract/parameter.ts';
import { planList } from '../../query/plan.ts';
import { readLines } from '../../query/read-lines.ts';
import { contentTag, selectRecords } from '../../query/read-page.ts';
import { totalOf } from '../../query/select.ts';
import { queryReader } from '../checks/query.ts';
import { pathParameter } from '../request-context.ts';
import type { Reader } from './reader.ts';

/** A parameter of pages, which a stream does not have. */
const OMITTED: ParameterKind = {
  schema: { not: {} },
  read: (text) => text,
  ctx: () => `must be omitted with Accept: ${NDJSON_TYPE}, since that response has all records`,
};

function withoutPages(parameter: ListParameter): ListParameter {
  const { is } = parameter.role;
  return is === 'page' || is === 'perPage' ? { ...parameter, kind: OMITTED } : parameter;
}

/** Creates the reader of all records of a list as lines. */
export function linesReader(operation: ListOperation): Reader {
  const { collection, parameters, pathParameter: parent } = operation;
  const readQuery = queryReader(parameters.map(withoutPages));
  return {
    hasLinks: false,
    contentTag: (store, now) => `${contentTag(store, collection, now)}.lines`,
    readQuery,
    read: ({ request, query, store, now }) => {
      const plan = planList(operation, readQuery(query));
      const selection = selectRecords(store, plan, parent && pathParameter(request, parent));
      if (selection === undefined) return undefined;
      const read = (isSent: () => boolean) => readLines(store, plan, selection, now, isSent);
      return { is: 'lines', rows: totalOf(selection), read };
    },
  };
}
