import { statSync } from 'node:fs';
import { join } from 'node:path';
import type Database from 'better-sqlite3';
import type { CollectionName } from '../../../contract/operations.ts';
import { byCollection, COLLECTIONS } from '../../format/layout.ts';
import { choice, type Fields, id, nullable } from '../../../contract/field.ts';
import { isOrganizationId, ORGANIZATION_ID_RULE } from '../../../contract/headers.ts';
import { COLLECTION_NAMES } from '../../../contract/resources.ts';
import { type JsonObject, textIn } from '../../format/json-values.ts';
import { DELETIONS_FILE, type ImportFolder, ORGANIZATIONS_FILE, readBlocks } from '../import/import-files.ts';
import { compileCheck, compileNormalize, ORGANIZATION_FIELDS } from '../import/import-schema.ts';
import { type LineNotes, readBlock } from '../import/line-notes.ts';
import { type FieldProblem, quoted, UNIQUE } from '../import/problems.ts';
import { ImportThreads } from './import-threads.ts';
import { ImportRejected, Rejections } from './rejections.ts';
import { rejectContradictions } from './contradictions.ts';
import type { EarlierSnapshot } from './earlier-snapshot.ts';
import { Staging } from './staging.ts';

/** Progress of a build: the records of a list that were read or written so far. */
export interface BuildProgress {
  readonly step: 'read' | 'written';
  readonly list: CollectionName;
  readonly records: number;
  /** The part of the step that is done, 0 to 1: of the bytes to read, or of the records to write. */
  readonly share: number;
}

export interface ImportOptions {
  readonly input: string;
  readonly onProgress?: (progress: BuildProgress) => void;
  /** Aborts the build, which then throws the signal's reason and leaves no file behind. */
  readonly signal?: AbortSignal;
}

/**
 * Reads an import folder into staging files, and rejects bad lines and contradictions.
 * @param folder the folder of the staging files of the threads
 * @param database for everything but the records of the import
 * @throws ImportRejected
 */
export async function readImport(
  options: ImportOptions,
  input: ImportFolder,
  folder: string,
  database: Database.Database,
  base: EarlierSnapshot | undefined,
): Promise<Staging> {
  const rejections = new Rejections(database);
  const names = await readOrganizationLines(input, rejections, base?.organizations);
  const badOrganizations = rejections.organizations();
  // No line names an organization, not even a bad or misnamed one: their own problems say more.
  const lacksOrganizations =
    names.size === 0 && !input.incomplete.has(ORGANIZATIONS_FILE) && badOrganizations.size === 0;
  if (names.size === 0 || input.incomplete.has(ORGANIZATIONS_FILE)) badOrganizations.add('');
  const organizations = new Map(names.keys().map((id, position) => [id, position]));
  await using threads = new ImportThreads({ organizations, badOrganizations }, folder);
  const lines = await readCollections(options, input, threads, rejections);
  const staging = new Staging(database, rejections, names, organizations, await threads.finish());
  await readDeletions(input, organizations, staging);
  rejectContradictions({ staging, folder: input, base, lines });
  if (input.misnamed.length === 0 && !lacksOrganizations && rejections.counts().total === 0) return staging;
  throw new ImportRejected(rejections, input, lacksOrganizations);
}

/** Reads the records of all collections. Returns the numbers of staged lines. */
async function readCollections(
  { signal, onProgress }: ImportOptions,
  input: ImportFolder,
  threads: ImportThreads,
  rejections: Rejections,
): Promise<Record<CollectionName, number>> {
  const lines = byCollection(() => 0);
  const files = COLLECTIONS.flatMap(({ name }) => input.files.get(name) ?? []);
  const totalBytes = files.reduce((sum, file) => sum + statSync(join(input.path, file)).size, 0);
  let bytes = 0;
  const countBytes = (more: number) => {
    bytes += more;
  };
  for (const { name: list } of COLLECTIONS) {
    const file = input.files.get(list);
    if (file === undefined) continue;
    for await (const notes of threads.read(list, readBlocks(input, file, countBytes))) {
      rejections.add(list, file, notes);
      lines[list] += notes.good;
      signal?.throwIfAborted();
      // A file may grow meanwhile.
      const share = bytes / Math.max(bytes, totalBytes);
      onProgress?.({ step: 'read', list, records: lines[list], share });
    }
  }
  return lines;
}

export const DELETION_FIELDS: Fields = {
  organizationId: nullable(
    id('Organization of the record. By default, each one without a line of the record.', 'org_1'),
  ),
  collection: choice(COLLECTION_NAMES, 'Collection of the record.', 'tickets'),
  id: id('Id of the record.', 'tkt_1'),
};

const checkOrganization = compileCheck(ORGANIZATION_FIELDS);
const normalizeOrganization = compileNormalize(ORGANIZATION_FIELDS);
const checkDeletion = compileCheck(DELETION_FIELDS);

/**
 * Reads the organizations of an import folder. Returns their names by id, in the order of the ids.
 * @param known the organizations of a base by id, to which the import adds, and which it renames
 */
async function readOrganizationLines(
  folder: ImportFolder,
  rejections: Rejections,
  known: EarlierSnapshot['organizations'] = new Map(),
): Promise<ReadonlyMap<string, string>> {
  const names = new Map(known.entries().map(([id, { name }]) => [id, name]));
  const lines = new Map<string, number>();
  await readLines(folder, ORGANIZATIONS_FILE, rejections, (record, notes) => {
    const organizationId = textIn(record['organizationId']);
    const problems = problemsOf(record, organizationId, lines.get(organizationId));
    if (problems.length === 0) {
      // UTF-8 cannot encode a lone surrogate, so the stored name would not match its digest.
      const name = textIn(record['name']).toWellFormed() || known.get(organizationId)?.name;
      names.set(organizationId, name ?? organizationId);
      lines.set(organizationId, notes.line);
      normalizeOrganization(record, notes);
    }
    return problems;
  });
  return new Map([...names].sort(([a], [b]) => (a < b ? -1 : 1)));
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

/** Reads the deletions of an import folder. */
async function readDeletions(
  folder: ImportFolder,
  organizations: ReadonlyMap<string, number>,
  { ids, rejections }: Staging,
): Promise<void> {
  await readLines(folder, DELETIONS_FILE, rejections, (deletion) => {
    const problems = checkDeletion(deletion);
    if (problems.length > 0) return problems;
    const [collection, id] = [textIn(deletion['collection']), textIn(deletion['id'])];
    const organizationId = deletion['organizationId'] ?? undefined;
    const organization = organizations.get(textIn(organizationId));
    if (organizationId !== undefined && organization === undefined) {
      const reason = `must be in the base or in ${ORGANIZATIONS_FILE}.ndjson`;
      return [{ field: 'organizationId', reason, found: quoted(organizationId) }];
    }
    ids.addDeletion(collection, organization, id);
    return [];
  });
}

/**
 * Reads an import file on this thread, if it exists, and rejects its bad lines.
 * @param problemsOf returns the problems of a line's object, and notes its undeclared fields
 */
async function readLines(
  folder: ImportFolder,
  name: string,
  rejections: Rejections,
  problemsOf: (record: JsonObject, notes: LineNotes) => readonly FieldProblem[],
): Promise<void> {
  const file = folder.files.get(name);
  if (file === undefined) return;
  for await (const block of readBlocks(folder, file))
    rejections.add(name, file, readBlock(block, problemsOf));
}
