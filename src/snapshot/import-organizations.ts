import { isOrganizationId, ORGANIZATION_ID_RULE } from '../contract/organization-id.ts';
import { importFile, eachLine, readBlocks } from './import-lines.ts';
import { ORGANIZATION_FIELDS, ORGANIZATIONS_FILE } from './import-files.ts';
import { compileCheck, problemOf } from './import-schema.ts';
import type { FieldProblem } from './import-schema.ts';
import { parseObject, textIn } from './json-values.ts';
import type { JsonObject } from './json-values.ts';
import type { Rejections } from './rejections.ts';

const check = compileCheck(ORGANIZATION_FIELDS);

/** The organizations of an import folder: names by id, in the order of the ids. */
export async function readOrganizations(
  folder: string,
  rejections: Rejections,
): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  const file = importFile(folder, ORGANIZATIONS_FILE);
  if (file === undefined) return names;
  for await (const block of readBlocks(folder, file)) {
    eachLine(block, (text, line) => {
      const record = text === undefined ? undefined : parseObject(text);
      const organizationId = textIn(record?.['organizationId']);
      const problem = problemWith(record, organizationId, names);
      if (problem !== undefined) rejections.add({ file, line, ...problem }, text);
      else names.set(organizationId, textIn(record?.['name']) || organizationId);
    });
  }
  return new Map([...names].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function problemWith(
  record: JsonObject | undefined,
  organizationId: string,
  names: ReadonlyMap<string, string>,
): FieldProblem | undefined {
  if (record === undefined) return { field: '', reason: 'the line is not a JSON object in UTF-8' };
  if (!check(record)) return problemOf(check);
  if (!isOrganizationId(organizationId)) return { field: 'organizationId', reason: ORGANIZATION_ID_RULE };
  if (names.has(organizationId))
    return { field: 'organizationId', reason: `"${organizationId}" is there already` };
  return undefined;
}
