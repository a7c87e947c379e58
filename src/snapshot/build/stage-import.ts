import type { CollectionName } from '../../contract/operations.ts';
import { COLLECTIONS } from '../format/layout.ts';
import { importFile, readBlocks } from './import-lines.ts';
import { ImportThreads } from './import-threads.ts';
import type { Rejections } from './rejections.ts';

export interface StageOptions {
  /** The import folder. */
  readonly input: string;
  /** The folder of the staging files. */
  readonly folder: string;
  /** In their order. */
  readonly organizationIds: readonly string[];
  /** Called now and then with how many records of a collection were read; what it throws ends the reading. */
  readonly onBlock: (collection: CollectionName, records: number) => void;
}

export interface StagedImport {
  /** Files with the records of the import, one of each thread that read it. */
  readonly stagingFiles: readonly string[];
  /** How often fields were dropped that are not declared, by file and field. */
  readonly dropped: ReadonlyMap<string, number>;
}

/** Reads the collections of an import folder into staging files, on several threads, and rejects the lines that are wrong. */
export async function stageImport(
  { input, folder, organizationIds, onBlock }: StageOptions,
  rejections: Rejections,
): Promise<StagedImport> {
  const dropped = new Map<string, number>();
  const organizations = new Map(organizationIds.map((id, position) => [id, position]));
  const threads = new ImportThreads(organizations, folder);
  try {
    for (const { name: collection } of COLLECTIONS) {
      const file = importFile(input, collection);
      if (file === undefined) continue;
      let read = 0;
      for await (const block of threads.read(collection, readBlocks(input, file))) {
        for (const { text, ...problem } of block.bad) rejections.add({ file, ...problem }, text);
        for (const [field, count] of block.dropped) {
          const name = `${file}: ${field}`;
          dropped.set(name, (dropped.get(name) ?? 0) + count);
        }
        read += block.records;
        onBlock(collection, read);
      }
    }
    await threads.finish();
    return { stagingFiles: threads.stagingFiles, dropped };
  } finally {
    await threads.close();
  }
}
