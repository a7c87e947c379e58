import { choice, type Fields, id } from '../../../contract/field.ts';
import { isOrganizationId, ORGANIZATION_ID_RULE } from '../../../contract/headers.ts';
import { COLLECTION_NAMES } from '../../../contract/resources.ts';
import { type JsonObject, textIn } from '../../format/json-values.ts';
import {
  DELETIONS_FILE,
  type ImportFolder,
  linesOf,
  ORGANIZATIONS_FILE,
  readBlocks,
} from '../import/import-files.ts';
import {
  compileCheck,
  compileNormalize,
  ORGANIZATION_FIELDS,
  ORGANIZATION_ID,
} from '../import/import-schema.ts';
import { LineNotes } from '../import/line-notes.ts';
import { type FieldProblem, quoted, UNIQUE } from '../import/problems.ts';
import type { BadOrganizations } from '../import/record-reader.ts';
import type { Rejections } from './rejections.ts';
import type { Staging } from './staging.ts';

/** Reads the import files without records of a collection. */

export const DELETION_FIELDS: Fields = {
  organizationId: ORGANIZATION_ID,
  collection: choice(COLLECTION_NAMES, 'Collection of the record.', 'tickets'),
  id: id('Id of the record.', 'tkt_1'),
};

const checkOrganization = compileCheck(ORGANIZATION_FIELDS);
const normalizeOrganization = compileNormalize(ORGANIZATION_FIELDS);
const checkDeletion = compileCheck(DELETION_FIELDS);

/**
 * Reads the organizations of an import folder. Returns their names by id, in the order of the ids, and the bad ones.
 * @param known names by id of the organizations of a base, to which the import adds, and which it renames
 */
export async function readOrganizations(
  folder: ImportFolder,
  rejections: Rejections,
  known: ReadonlyMap<string, string> = new Map(),
): Promise<{ readonly names: ReadonlyMap<string, string>; readonly bad: BadOrganizations }> {
  const names = new Map(known);
  const lines = new Map<string, number>();
  const ids = new Set<string>();
  const malformed = await readLines(folder, ORGANIZATIONS_FILE, rejections, (record, notes) => {
    const organizationId = textIn(record['organizationId']);
    const problems = problemsOf(record, organizationId, lines.get(organizationId));
    if (problems.length > 0) ids.add(organizationId);
    else {
      // UTF-8 cannot encode a lone surrogate, so the stored name would not match its digest.
      const name = textIn(record['name']).toWellFormed() || known.get(organizationId);
      names.set(organizationId, name ?? organizationId);
      lines.set(organizationId, notes.line);
      normalizeOrganization(record, notes);
    }
    return problems;
  });
  const isAnyUnknown =
    folder.incomplete.has(ORGANIZATIONS_FILE) || malformed > 0 || ids.has('') || names.size === 0;
  const sorted = [...names].sort(([a], [b]) => (a < b ? -1 : 1));
  return { names: new Map(sorted), bad: { ids, isAnyUnknown } };
}

function problemsOf(record: JsonObject, organizationId: string, earlierLine?: number): FieldProblem[] {
  const problems = [...checkOrganization(record)];
  const [field, found] = ['organizationId', quoted(organizationId)];
  if (organizationId !== '' && organizationId.isWellFormed() && !isOrganizationId(organizationId))
    problems.push({ field, reason: ORGANIZATION_ID_RULE, found });
  else if (earlierLine !== undefined)
    problems.push({ field, reason: UNIQUE, found: `${found} also on line ${earlierLine}` });
  return problems;
}

/** Reads the deletions of an import folder. Returns the number of valid lines. */
export async function readDeletions(
  folder: ImportFolder,
  organizations: ReadonlyMap<string, number>,
  { ids, rejections }: Staging,
): Promise<number> {
  let valid = 0;
  await readLines(folder, DELETIONS_FILE, rejections, (deletion) => {
    const problems = checkDeletion(deletion);
    if (problems.length > 0) return problems;
    const organizationId = textIn(deletion['organizationId']);
    const organization = organizations.get(organizationId);
    if (organization === undefined) {
      const reason = `must be in the base or in ${ORGANIZATIONS_FILE}.ndjson`;
      return [{ field: 'organizationId', reason, found: quoted(organizationId) }];
    }
    ids.addDeletion(textIn(deletion['collection']), organization, textIn(deletion['id']));
    valid++;
    return [];
  });
  return valid;
}

/**
 * Reads an import file on this thread, if it exists, and rejects its bad lines. Returns the number of malformed ones.
 * @param problemsOf returns the problems of a line's object, and notes its undeclared fields
 */
async function readLines(
  folder: ImportFolder,
  name: string,
  rejections: Rejections,
  problemsOf: (record: JsonObject, notes: LineNotes) => readonly FieldProblem[],
): Promise<number> {
  const file = folder.files.get(name);
  if (file === undefined) return 0;
  let malformed = 0;
  for await (const block of readBlocks(folder, file)) {
    const notes = new LineNotes(rejections.keepsLines);
    for (const line of linesOf(block)) {
      notes.line = line.number;
      if (line.record === undefined) malformed++;
      const problems = line.record === undefined ? [line.problem] : problemsOf(line.record, notes);
      if (problems.length > 0) notes.reject(problems, line.text);
    }
    rejections.add(file, notes);
  }
  return malformed;
}
