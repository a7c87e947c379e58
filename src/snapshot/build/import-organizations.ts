import { isOrganizationId, ORGANIZATION_ID_RULE } from '../../contract/headers.ts';
import { type JsonObject, parseObject, textIn } from '../format/json-values.ts';
import { importFile, linesOf, ORGANIZATIONS_FILE, readBlocks } from './import-files.ts';
import {
  compileCheck,
  compileNormalize,
  type FieldCounts,
  type FieldProblem,
  NO_OBJECT,
  ORGANIZATION_FIELDS,
  problemOf,
} from './import-schema.ts';
import type { Rejections } from './rejections.ts';

const check = compileCheck(ORGANIZATION_FIELDS);
const normalize = compileNormalize(ORGANIZATION_FIELDS);

export interface ImportedOrganizations {
  /** Names by id, in the order of the ids. */
  readonly names: ReadonlyMap<string, string>;
  /** Undeclared fields, each with its file. */
  readonly dropped: FieldCounts;
}

/** Reads the organizations of an import folder. */
export async function readOrganizations(
  folder: string,
  rejections: Rejections,
): Promise<ImportedOrganizations> {
  const organizations = new Map<string, { name: string; line: number }>();
  const dropped: FieldCounts = new Map();
  const file = importFile(folder, ORGANIZATIONS_FILE);
  if (file === undefined) return { names: new Map(), dropped };
  for await (const block of readBlocks(folder, file)) {
    for (const line of linesOf(block)) {
      const record = parseObject(line.text ?? '');
      const organizationId = textIn(record?.['organizationId']);
      const problem =
        line.text === undefined
          ? line.problem
          : problemWith(record, organizationId, organizations.get(organizationId)?.line);
      if (problem !== undefined) {
        rejections.add({ file, line: line.number, ...problem }, line.text);
        continue;
      }
      // UTF-8 cannot encode a lone surrogate, so the stored name would not match its digest.
      const name = textIn(record?.['name']).toWellFormed() || organizationId;
      organizations.set(organizationId, { name, line: line.number });
      normalize(record, dropped);
    }
  }
  const inOrder = [...organizations].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    names: new Map(inOrder.map(([id, { name }]) => [id, name])),
    dropped: new Map(Array.from(dropped, ([field, count]) => [`${file}: ${field}`, count])),
  };
}

function problemWith(
  record: JsonObject | undefined,
  organizationId: string,
  earlierLine: number | undefined,
): FieldProblem | undefined {
  if (record === undefined) return NO_OBJECT;
  if (!check(record)) return problemOf(check);
  if (!isOrganizationId(organizationId)) return { field: 'organizationId', reason: ORGANIZATION_ID_RULE };
  if (earlierLine === undefined) return undefined;
  return { field: 'organizationId', reason: `"${organizationId}" already appears on line ${earlierLine}` };
}
