import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { CollectionName, ListName } from '../../../contract/operations.ts';
import { byCollection, REFERENTS_FIRST } from '../../format/layout.ts';
import { type ImportFolder, ORGANIZATIONS_FILE, readBlocks } from '../import/import-files.ts';
import { ImportThreads } from './import-threads.ts';
import { readDeletions, readOrganizations } from './organizations-and-deletions.ts';
import { ImportRejected } from './rejections.ts';
import { rejectContradictions, type StagedBase } from './contradictions.ts';
import type { Staging } from './staging.ts';

/** A number of lines, or a share of the lines of all import files. */
export type BadLineLimit = { readonly lines: number } | { readonly percent: number };

/** Progress of a build: the records of a list that were read or written so far. */
export interface BuildProgress {
  readonly step: 'read' | 'written';
  readonly list: ListName;
  readonly records: number;
  /** The part of the step that is done, 0 to 1: of the bytes to read, or of the records to write. */
  readonly share: number;
}

export interface ImportOptions {
  /** The import folder. */
  readonly input: string;
  /** Leave bad lines out, instead of refusing the import. */
  readonly skipInvalid: boolean;
  /** The bad lines that may be left out at most; all by default. */
  readonly maxInvalid?: BadLineLimit;
  readonly onProgress?: (progress: BuildProgress) => void;
  /** Aborts the build, which then throws the signal's reason and leaves no file behind. */
  readonly signal?: AbortSignal;
}

export interface Imported {
  readonly input: ImportFolder;
  /** Whether no line names an organization, not even a bad or misnamed one: their own problems say more. */
  readonly lacksOrganizations: boolean;
  /** Names of the organizations by id, in the order of the ids. */
  readonly names: ReadonlyMap<string, string>;
  /** The ids in that order, which is that of the positions. */
  readonly organizationIds: readonly string[];
  /** Number of staged lines, without bad ones. */
  readonly lines: Readonly<Record<CollectionName, number>>;
  /** Number of lines of all files. */
  readonly linesRead: number;
  /** Number of lines that are bad by themselves. */
  readonly badLines: number;
}

/**
 * Reads an import folder into staging files, and rejects bad lines.
 * @param folder the folder of the staging files
 * @param baseNames names by id of the organizations of a base
 */
export async function readImport(
  { skipInvalid, signal, onProgress }: ImportOptions,
  input: ImportFolder,
  folder: string,
  staging: Staging,
  baseNames: ReadonlyMap<string, string> | undefined,
): Promise<Imported> {
  const { rejections } = staging;
  const { names, bad: badOrganizations } = await readOrganizations(input, rejections, baseNames);
  const lacksOrganizations =
    names.size === 0 && !input.incomplete.has(ORGANIZATIONS_FILE) && (skipInvalid || rejections.total === 0);
  const organizationIds = [...names.keys()];
  const organizations = new Map(organizationIds.map((id, position) => [id, position]));
  const { keepsLines } = rejections;
  const threads = new ImportThreads({ organizations, badOrganizations, keepsLines }, folder);
  const lines = byCollection(() => 0);
  const files = REFERENTS_FIRST.flatMap(({ name }) => input.files.get(name) ?? []);
  const totalBytes = files.reduce((sum, file) => sum + statSync(join(input.path, file)).size, 0);
  let bytes = 0;
  const countBytes = (more: number) => {
    bytes += more;
  };
  try {
    for (const layout of REFERENTS_FIRST) {
      const { name: list } = layout;
      const file = input.files.get(list);
      if (file === undefined) continue;
      for await (const block of threads.read(list, readBlocks(input, file, countBytes))) {
        rejections.add(file, block.notes);
        lines[list] += block.records;
        signal?.throwIfAborted();
        // A file may grow meanwhile.
        const share = bytes / Math.max(bytes, totalBytes);
        onProgress?.({ step: 'read', list, records: lines[list], share });
      }
    }
    await threads.finish();
  } finally {
    await threads.close();
  }
  staging.attach(threads.stagingFiles, organizationIds);
  const deletions = await readDeletions(input, organizations, staging);
  const badLines = rejections.total;
  const linesRead = names.size + sumOf(lines) + deletions + badLines;
  return { input, lacksOrganizations, names, organizationIds, lines, linesRead, badLines };
}

/** Rejects the records that contradict others, and refuses the import if too many lines are bad. */
export function checkImport(
  { skipInvalid, maxInvalid }: ImportOptions,
  { input, lacksOrganizations, lines, linesRead }: Imported,
  staging: Staging,
  base: StagedBase | undefined,
): void {
  const { rejections } = staging;
  rejectContradictions(staging, input, lines, base);
  if (base !== undefined) staging.ids.buildFilter();
  const { misnamed } = input;
  const problems = { misnamed, lacksOrganizations };
  if (misnamed.length > 0 || lacksOrganizations || (rejections.total > 0 && !skipInvalid))
    throw new ImportRejected(rejections, problems);
  const limit = omissible(linesRead, maxInvalid);
  if (rejections.total > limit) throw new ImportRejected(rejections, problems, { limit, read: linesRead });
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Returns the number of lines that may be omitted. */
function omissible(linesRead: number, limit: BadLineLimit | undefined): number {
  if (limit === undefined) return linesRead;
  return 'lines' in limit ? limit.lines : Math.floor((linesRead * limit.percent) / 100);
}
