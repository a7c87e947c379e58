import { isOrganizationId, ORGANIZATION_ID_RULE } from '../../contract/headers.ts';
import { type JsonObject, parseObject, textIn } from '../format/json-values.ts';
import { eachLine, importFile, ORGANIZATION_FIELDS, ORGANIZATIONS_FILE, readBlocks } from './import-files.ts';
import { compileCheck, compileNormalize, type FieldProblem, problemOf } from './import-schema.ts';
import type { Rejections } from './rejections.ts';

const check = compileCheck(ORGANIZATION_FIELDS);
const normalize = compileNormalize(ORGANIZATION_FIELDS);

export interface ImportedOrganizations {
  /** Names by id, in the order of the ids. */
  readonly names: ReadonlyMap<string, string>;
  /** How often fields were dropped, by file and field. */
  readonly dropped: ReadonlyMap<string, number>;
}

/** The organizations of an import folder. */
export async function readOrganizations(
  folder: string,
  rejections: Rejections,
): Promise<ImportedOrganizations> {
  const organizations = new Map<string, { name: string; line: number }>();
  const dropped = new Map<string, number>();
  const file = importFile(folder, ORGANIZATIONS_FILE);
  if (file === undefined) return { names: new Map(), dropped };
  for await (const block of readBlocks(folder, file)) {
    eachLine(
      block,
      (text, line) => {
        const record = parseObject(text);
        const organizationId = textIn(record?.['organizationId']);
        const problem = problemWith(record, organizationId, organizations.get(organizationId)?.line);
        if (problem !== undefined) {
          rejections.add({ file, line, ...problem }, text);
          return;
        }
        // A half of a surrogate pair could not be read back as it is digested.
        const name = textIn(record?.['name']).toWellFormed() || organizationId;
        organizations.set(organizationId, { name, line });
        normalize(record, (field) => {
          const path = `${file}: ${field}`;
          dropped.set(path, (dropped.get(path) ?? 0) + 1);
        });
      },
      (reason, line) => {
        rejections.add({ file, line, field: '', reason }, undefined);
      },
    );
  }
  const inOrder = [...organizations].sort(([a], [b]) => (a < b ? -1 : 1));
  return { names: new Map(inOrder.map(([id, { name }]) => [id, name])), dropped };
}

function problemWith(
  record: JsonObject | undefined,
  organizationId: string,
  earlierLine: number | undefined,
): FieldProblem | undefined {
  if (record === undefined) return { field: '', reason: 'the line is not a JSON object' };
  if (!check(record)) return problemOf(check);
  if (!isOrganizationId(organizationId)) return { field: 'organizationId', reason: ORGANIZATION_ID_RULE };
  if (earlierLine !== undefined) {
    return {
      field: 'organizationId',
      reason: `"${organizationId}" is there already, on line ${earlierLine}`,
    };
  }
  return undefined;
}
