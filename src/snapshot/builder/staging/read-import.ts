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
import { type HeldBack, ImportRejected, Rejections } from './rejections.ts';
import { rejectContradictions } from './contradictions.ts';
import type { EarlierSnapshot } from './earlier-snapshot.ts';
import { type ImportOrganizations, Staging } from './staging.ts';

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
  /** The time of the export. It must be later than that of the base or the previous snapshot. */
  readonly producedAt: Date;
  /** File that gets the organizations that are held back; undefined to refuse an import that is bad. */
  readonly holdBack?: string | undefined;
  readonly onProgress?: (progress: BuildProgress) => void;
  /** Aborts the build, which then throws the signal's reason and leaves no file behind. */
  readonly signal?: AbortSignal;
}

/** What a build has found out about organizations. When it finds more, it reads the import again. */
export interface Findings {
  /** Those that are held back, by id. */
  readonly held: Map<string, HeldBack>;
  /** Ids of those that deletions remove. */
  readonly removed: Set<string>;
}

/**
 * Reads an import folder into staging files, and rejects bad lines and contradictions.
 * @param folder the folder of the staging files of the threads
 * @param database for everything but the records of the import
 * @returns undefined when there are new findings
 * @throws ImportRejected
 */
export async function readImport(
  options: ImportOptions,
  input: ImportFolder,
  folder: string,
  database: Database.Database,
  earlier: EarlierSnapshot | undefined,
  findings: Findings,
): Promise<Staging | undefined> {
  const rejections = new Rejections(database);
  const { held, removed } = findings;
  const imported = await readOrganizationLines(input, rejections, earlier, findings);
  const { names } = imported;
  const badOrganizations = rejections.organizations();
  const known = badOrganizations.union(names).union(earlier?.organizations ?? new Map<string, unknown>());
  // No line names an organization, not even a bad or misnamed one: their own problems say more.
  const lacksOrganizations =
    names.size === 0 && !input.incomplete.has(ORGANIZATIONS_FILE) && badOrganizations.size === 0;
  if (names.size === 0 || input.incomplete.has(ORGANIZATIONS_FILE)) badOrganizations.add('');
  const organizations = new Map(names.keys().map((id, position) => [id, position]));
  const producedAt = options.producedAt.getTime();
  await using threads = new ImportThreads({ organizations, badOrganizations, held, producedAt }, folder);
  const lines = await readCollections(options, input, threads, rejections);
  const staging = new Staging(database, rejections, imported, organizations, await threads.finish());
  const deleted = await readDeletions(input, organizations, staging, held);
  const gone = deleted.values().filter((id) => names.has(id) && !imported.listed.has(id) && !held.has(id));
  const { size } = removed;
  for (const id of gone) removed.add(id);
  if (removed.size > size) return undefined;
  rejectContradictions({ staging, folder: input, earlier, lines });
  const isComplete = input.misnamed.length === 0 && !lacksOrganizations;
  if (isComplete && rejections.counts().total === 0) return staging;
  const isNew = ({ organizationId: id }: HeldBack) => id !== '' && known.has(id) && !held.has(id);
  const bad = isComplete && options.holdBack !== undefined ? rejections.heldBack().filter(isNew) : [];
  for (const one of bad) held.set(one.organizationId, one);
  const isLeft = (id: string) => !held.has(id) || earlier?.organizations.has(id) === true;
  if (bad.length > 0 && names.keys().some(isLeft)) return undefined;
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
  collection: choice(
    [...COLLECTION_NAMES, ORGANIZATIONS_FILE],
    'Collection of the record; `organizations` for an organization without a line, with all its records.',
    'tickets',
  ),
  id: id('Id of the record.', 'tkt_1'),
};

const checkOrganization = compileCheck(ORGANIZATION_FIELDS);
const normalizeOrganization = compileNormalize(ORGANIZATION_FIELDS);
const checkDeletion = compileCheck(DELETION_FIELDS);

/**
 * Reads the organizations of an import folder, which adds to those of a base and renames them. Those that are held back
 * are as they were.
 */
async function readOrganizationLines(
  folder: ImportFolder,
  rejections: Rejections,
  earlier: EarlierSnapshot | undefined,
  { held, removed }: Findings,
): Promise<ImportOrganizations> {
  const isKept = (id: string) => held.has(id) || (earlier?.isBase === true && !removed.has(id));
  const kept = Array.from(earlier?.organizations.values() ?? []).filter((one) => isKept(one.organizationId));
  const names = new Map(kept.map(({ organizationId, name }) => [organizationId, name]));
  const staying = new Set(names.keys());
  const lines = new Map<string, number>();
  await readLines(folder, ORGANIZATIONS_FILE, rejections, held, (record, notes) => {
    const organizationId = textIn(record['organizationId']);
    const problems = problemsOf(record, organizationId, lines.get(organizationId));
    if (problems.length === 0) {
      // UTF-8 cannot encode a lone surrogate, so the stored name would not match its digest.
      const name = textIn(record['name']).toWellFormed() || names.get(organizationId);
      names.set(organizationId, name ?? organizationId);
      lines.set(organizationId, notes.line);
      if (record['complete'] === true) staying.delete(organizationId);
      normalizeOrganization(record, notes);
    }
    return problems;
  });
  const sorted = new Map([...names].sort(([a], [b]) => (a < b ? -1 : 1)));
  return { names: sorted, staying, held, listed: new Set(lines.keys()) };
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

/** Reads the deletions of an import folder. Returns the ids of deleted organizations. */
async function readDeletions(
  folder: ImportFolder,
  positions: ReadonlyMap<string, number>,
  { ids, rejections }: Staging,
  held: Findings['held'],
): Promise<ReadonlySet<string>> {
  const organizations = new Set<string>();
  await readLines(folder, DELETIONS_FILE, rejections, held, (deletion) => {
    const problems = checkDeletion(deletion);
    if (problems.length > 0) return problems;
    const [collection, id] = [textIn(deletion['collection']), textIn(deletion['id'])];
    const organizationId = deletion['organizationId'] ?? undefined;
    const [field, found] = ['organizationId', quoted(organizationId ?? null)];
    if (collection === ORGANIZATIONS_FILE) {
      if (organizationId !== undefined && organizationId !== id)
        return [{ field, reason: 'must be the id of the organization, or absent', found }];
      organizations.add(id);
      return [];
    }
    const organization = positions.get(textIn(organizationId));
    if (organizationId !== undefined && organization === undefined)
      return [{ field, reason: `must be in the base or in ${ORGANIZATIONS_FILE}.ndjson`, found }];
    ids.addDeletion(collection, organization, id);
    return [];
  });
  return organizations;
}

/**
 * Reads an import file on this thread, if it exists, and rejects its bad lines.
 * @param held organizations whose lines are skipped
 * @param problemsOf returns the problems of a line's object, and notes its undeclared fields
 */
async function readLines(
  folder: ImportFolder,
  name: string,
  rejections: Rejections,
  held: Findings['held'],
  problemsOf: (record: JsonObject, notes: LineNotes) => readonly FieldProblem[],
): Promise<void> {
  const file = folder.files.get(name);
  if (file === undefined) return;
  for await (const block of readBlocks(folder, file))
    rejections.add(name, file, readBlock(block, held, problemsOf));
}
