import { readdirSync, statSync } from 'node:fs';
import { expect } from 'chai';
import type { BuildOptions } from '../../src/snapshot/builder/build-options.ts';
import { describeGroup, ImportRejected } from '../../src/snapshot/builder/staging/rejections.ts';
import { build, type Built, builtFrom, type Files, writeImport } from '../support/import-folder.ts';
import { refusalOf } from '../support/refusal.ts';
import { folderForAll, type InFolder } from '../support/temporary-folder.ts';

/** Builds snapshots for the calling suite, each from an import folder of its own. */
export class Builds {
  /** Returns the path of a file in the folder of the suite. */
  readonly inFolder: InFolder = folderForAll();
  #count = 0;

  /** Writes an import folder, builds a snapshot of it, and reads the snapshot. */
  readonly build = (files: Files, options: Partial<BuildOptions> = {}): Promise<Built> =>
    builtFrom(this.inFolder(`build-${this.#count++}`), files, options);

  /** Returns the error of a build, which leaves no file and replaces none. */
  readonly errorOf = async <E extends Error>(
    kind: abstract new (...parameters: never[]) => E,
    files: Files,
    options: Partial<BuildOptions> = {},
  ): Promise<E> => {
    const input = this.inFolder(`build-${this.#count++}`);
    writeImport(input, files);
    const before = this.#files();
    const error = await refusalOf(build(input, `${input}/snapshot.sqlite`, options), kind);
    expect(this.#files()).to.deep.equal(before);
    return error;
  };

  /** Returns the error of a build of a bad import, with its groups as the command prints them. */
  readonly rejectionOf = async (files: Files, options: Partial<BuildOptions> = {}) => {
    const { message, misnamed, groups } = await this.errorOf(ImportRejected, files, options);
    return { message, misnamed, groups: groups.map(describeGroup) };
  };

  #files(): string[] {
    const names = readdirSync(this.inFolder(''), { recursive: true, encoding: 'utf8' });
    return names.map((name) => `${name} ${statSync(this.inFolder(name)).ino}`);
  }
}
