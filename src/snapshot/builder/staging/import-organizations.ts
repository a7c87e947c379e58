import { isOrganizationId, ORGANIZATION_ID_RULE } from '../../../contract/headers.ts';
import { type JsonObject, parseObject, textIn } from '../../format/json-values.ts';
import { type ImportFolder, linesOf, ORGANIZATIONS_FILE, readBlocks } from '../import/import-files.ts';
import { compileCheck, compileNormalize, ORGANIZATION_FIELDS } from '../import/import-schema.ts';
import { type ImportNotes, LineNotes } from '../import/line-notes.ts';
import { malformed } from '../import/malformed-line.ts';
import { BadLines, type FieldProblem, quoted, UNIQUE } from '../import/problems.ts';
import type { Rejections } from './rejections.ts';

const check = compileCheck(ORGANIZATION_FIELDS);
const normalize = compileNormalize(ORGANIZATION_FIELDS);

export interface ImportedOrganizations {
  /** Names by id, in the order of the ids. */
  readonly names: ReadonlyMap<string, string>;
  readonly bad: BadOrganizations;
}

/** The organizations of bad lines. */
export interface BadOrganizations {
  readonly ids: ReadonlySet<string>;
  /** Whether the id of a bad line is unknown. */
  readonly isAnyUnknown: boolean;
}

export const NO_BAD_ORGANIZATIONS: BadOrganizations = { ids: new Set(), isAnyUnknown: false };

/**
 * Reads the organizations of an import folder.
 * @param known names by id of the organizations of a base, to which the import adds, and which it renames
 */
export async function readOrganizations(
  folder: ImportFolder,
  rejections: Rejections,
  notes: ImportNotes,
  known: ReadonlyMap<string, string> = new Map(),
): Promise<ImportedOrganizations> {
  const organizations = new Map<string, { name: string; line: number }>();
  const file = folder.files.get(ORGANIZATIONS_FILE);
  const isIncomplete = folder.incomplete.has(ORGANIZATIONS_FILE);
  if (file === undefined) {
    const isAnyUnknown = isIncomplete || known.size === 0;
    return { names: known, bad: { ...NO_BAD_ORGANIZATIONS, isAnyUnknown } };
  }
  const bad = { ids: new Set<string>(), isAnyUnknown: isIncomplete };
  for await (const block of readBlocks(folder, file)) {
    const badLines = new BadLines(rejections.keepsLines);
    const lineNotes = new LineNotes();
    for (const line of linesOf(block)) {
      lineNotes.line = line.number;
      const record = parseObject(line.text ?? '');
      const organizationId = textIn(record?.['organizationId']);
      const problems =
        line.text === undefined
          ? [line.problem]
          : record === undefined
            ? [malformed(line.text)]
            : problemsOf(record, organizationId, organizations.get(organizationId)?.line);
      if (problems.length > 0) {
        badLines.add({ line: line.number, problems, text: line.text });
        if (organizationId === '') bad.isAnyUnknown = true;
        else bad.ids.add(organizationId);
        continue;
      }
      // UTF-8 cannot encode a lone surrogate, so the stored name would not match its digest.
      const name = textIn(record?.['name']).toWellFormed() || (known.get(organizationId) ?? organizationId);
      organizations.set(organizationId, { name, line: line.number });
      normalize(record, lineNotes);
    }
    rejections.add(file, badLines);
    notes.add(file, lineNotes);
  }
  const names = new Map(known);
  for (const [organizationId, { name }] of organizations) names.set(organizationId, name);
  if (names.size === 0) bad.isAnyUnknown = true;
  return {
    names: new Map([...names].sort(([a], [b]) => (a < b ? -1 : 1))),
    bad,
  };
}

function problemsOf(
  record: JsonObject,
  organizationId: string,
  earlierLine: number | undefined,
): readonly FieldProblem[] {
  const problems = check(record);
  const found = quoted(organizationId);
  if (organizationId !== '' && organizationId.isWellFormed() && !isOrganizationId(organizationId))
    return [...problems, { field: 'organizationId', reason: ORGANIZATION_ID_RULE, found }];
  if (earlierLine === undefined) return problems;
  return [
    ...problems,
    { field: 'organizationId', reason: UNIQUE, found: `${found} also on line ${earlierLine}` },
  ];
}
