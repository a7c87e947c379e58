import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { CollectionName } from '../../../contract/operations.ts';
import { byCollection, COLLECTIONS } from '../../format/layout.ts';
import { type ImportFolder, ORGANIZATIONS_FILE, readBlocks } from '../import/import-files.ts';
import { ImportThreads } from './import-threads.ts';
import { readDeletions, readOrganizations } from './organizations-and-deletions.ts';
import { ImportRejected, type Rejections } from './rejections.ts';
import { rejectContradictions, type Base } from './contradictions.ts';
import type { Staging } from './staging.ts';

/** A number of lines, or a share of the lines of all import files. */
export type BadLineLimit = { readonly lines: number } | { readonly percent: number };

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
  /** Leave bad lines out, instead of refusing the import. */
  readonly skipInvalid: boolean;
  /** The bad lines that may be left out at most; all by default. */
  readonly maxInvalid?: BadLineLimit;
  readonly onProgress?: (progress: BuildProgress) => void;
  /** Aborts the build, which then throws the signal's reason and leaves no file behind. */
  readonly signal?: AbortSignal;
}

/** Names of the organizations by id, in the order of the ids, and numbers of all lines and of the bad ones. */
export type Imported = Awaited<ReturnType<typeof readImport>>;

/**
 * Reads an import folder into staging files, and rejects bad lines and contradictions.
 * @param folder the folder of the staging files
 * @throws ImportRejected when too many lines are bad
 */
export async function readImport(
  options: ImportOptions,
  input: ImportFolder,
  folder: string,
  staging: Staging,
  base: Base | undefined,
) {
  const { rejections } = staging;
  const { skipInvalid, maxInvalid = { percent: 100 } } = options;
  const { names, bad: badOrganizations } = await readOrganizations(input, rejections, base?.names);
  // No line names an organization, not even a bad or misnamed one: their own problems say more.
  const lacksOrganizations =
    names.size === 0 && !input.incomplete.has(ORGANIZATIONS_FILE) && (skipInvalid || rejections.total === 0);
  const organizationIds = [...names.keys()];
  const organizations = new Map(organizationIds.map((id, position) => [id, position]));
  const { keepsLines } = rejections;
  const threads = new ImportThreads({ organizations, badOrganizations, keepsLines }, folder);
  const lines = await readCollections(options, input, threads, rejections);
  staging.attach(threads.stagingFiles, organizationIds);
  const deletions = await readDeletions(input, organizations, staging);
  const badLines = rejections.total;
  const linesRead = Object.values(lines).reduce(
    (sum, count) => sum + count,
    names.size + deletions + badLines,
  );
  rejectContradictions(staging, input, lines, base);
  if (base !== undefined) staging.ids.buildFilter();
  if (input.misnamed.length > 0 || lacksOrganizations || (rejections.total > 0 && !skipInvalid))
    throw new ImportRejected(rejections, input.misnamed, lacksOrganizations);
  const limit = 'lines' in maxInvalid ? maxInvalid.lines : Math.floor((linesRead * maxInvalid.percent) / 100);
  if (rejections.total > limit) {
    const [read, most] = [linesRead, limit].map((count) => count.toLocaleString('en'));
    throw new ImportRejected(rejections, [], false, `, of ${read} read; at most ${most} may be omitted`);
  }
  return { names, linesRead, badLines };
}

/** Reads the records of all collections, and ends the threads. Returns the numbers of staged lines. */
async function readCollections(
  { signal, onProgress }: ImportOptions,
  input: ImportFolder,
  threads: ImportThreads,
  rejections: Rejections,
): Promise<Record<CollectionName, number>> {
  const lines = byCollection(() => 0);
  const files = COLLECTIONS.flatMap(({ name }) => input.files.get(name) ?? []);
  let bytes = 0;
  const countBytes = (more: number) => {
    bytes += more;
  };
  try {
    const totalBytes = files.reduce((sum, file) => sum + statSync(join(input.path, file)).size, 0);
    for (const { name: list } of COLLECTIONS) {
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
    return lines;
  } finally {
    await threads.close();
  }
}
