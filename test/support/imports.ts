import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path/posix';
import ts from 'typescript';

/** The imports of a file of the project. Paths are relative to the root of the project. */

/** Returns the project files that a file imports, types included. */
export function importsOf(path: string, source: string): string[] {
  return namesIn(source)
    .filter(isRelative)
    .map((name) => join(dirname(path), name));
}

/** Returns the packages that a file imports at run time. */
export function packagesOf(source: string): string[] {
  return namesIn(stripTypeScriptTypes(source))
    .filter((name) => !isRelative(name) && !name.startsWith('node:'))
    .map((name) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);
}

/** Returns the files that a file starts as threads. They share no module with it, but the same rules hold. */
export function threadsOf(path: string, source: string): string[] {
  const names = source.matchAll(/new URL\(\s*'([^']+\.ts)',\s*import\.meta\.url/g);
  return Array.from(names, ([, name]) => join(dirname(path), name));
}

/** Returns what a file imports, as it is written, types included. */
export function namesIn(source: string): string[] {
  return ts.preProcessFile(source).importedFiles.map(({ fileName }) => fileName);
}

function isRelative(name: string): boolean {
  return name.startsWith('.');
}
