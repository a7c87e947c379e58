import type { BuildOptions } from '../../src/snapshot/builder/build-snapshot.ts';
import { type Built, builtFrom, type Import } from '../support/import-folder.ts';
import { folderForAll, type InFolder } from '../support/temporary-folder.ts';

export interface BuiltFile extends Built {
  /** The path of the snapshot. */
  readonly file: string;
}

/** Builds snapshots for the calling suite, each from an import folder of its own. */
export class Builds {
  /** Returns the path of a file in the folder of the suite. */
  readonly inFolder: InFolder = folderForAll();
  #count = 0;

  /** Writes an import folder, builds a snapshot of it, and reads the snapshot. */
  readonly build = async (files: Import, options: Partial<BuildOptions> = {}): Promise<BuiltFile> => {
    const input = this.inFolder(`build-${this.#count++}`);
    return { ...(await builtFrom(input, files, options)), file: `${input}/snapshot.sqlite` };
  };
}
