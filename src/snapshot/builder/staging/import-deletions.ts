import { parseObject, textIn } from '../../format/json-values.ts';
import { COLLECTION_NAMES } from '../../../contract/resources.ts';
import { choice, type Fields, id } from '../../../contract/field.ts';
import {
  DELETIONS_FILE,
  type ImportFolder,
  linesOf,
  ORGANIZATIONS_FILE,
  readBlocks,
} from '../import/import-files.ts';
import { compileCheck, ORGANIZATION_ID } from '../import/import-schema.ts';
import { malformed } from '../import/malformed-line.ts';
import { BadLines, type FieldProblem, quoted } from '../import/problems.ts';
import type { Staging } from './staging.ts';

const DELETION_FIELDS: Fields = {
  organizationId: ORGANIZATION_ID,
  collection: choice(COLLECTION_NAMES, 'Collection of the record.', 'tickets'),
  id: id('Id of the record.', 'tkt_1'),
};

const check = compileCheck(DELETION_FIELDS);

/**
 * Reads the deletions of an import folder. Returns the number of valid lines.
 * @param organizations positions by id
 */
export async function readDeletions(
  folder: ImportFolder,
  organizations: ReadonlyMap<string, number>,
  { ids, rejections }: Staging,
): Promise<number> {
  const file = folder.files.get(DELETIONS_FILE);
  if (file === undefined) return 0;
  let valid = 0;
  for await (const block of readBlocks(folder, file)) {
    const badLines = new BadLines(rejections.keepsLines);
    for (const line of linesOf(block)) {
      const problems = line.text === undefined ? [line.problem] : read(line.text);
      if (problems.length > 0) badLines.add({ line: line.number, problems, text: line.text });
      else valid++;
    }
    rejections.add(file, badLines);
  }
  return valid;

  function read(text: string): readonly FieldProblem[] {
    const deletion = parseObject(text);
    if (deletion === undefined) return [malformed(text)];
    const problems = check(deletion);
    if (problems.length > 0) return problems;
    const organization = organizations.get(textIn(deletion['organizationId']));
    if (organization === undefined) {
      const reason = `must be in the base or in ${ORGANIZATIONS_FILE}.ndjson`;
      return [{ field: 'organizationId', reason, found: quoted(deletion['organizationId']) }];
    }
    ids.addDeletion(textIn(deletion['collection']), organization, textIn(deletion['id']));
    return [];
  }
}
