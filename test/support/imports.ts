import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path/posix';
import ts from 'typescript';

/** The imports of a file of the project. Paths are relative to the root of the project. */

/** Returns the modules of the project that a file imports, types included. */
export function modulesOf(path: string, source: string): string[] {
  return namesIn(source)
    .filter(isRelative)
    .map((name) => join(dirname(path), name));
}

/** Returns the files of the project that a file imports, also types in comments, or starts as threads. */
export function importsOf(path: string, source: string): string[] {
  const others = [/@import\b[^']*'(\.[^']+)'/g, /new URL\(\s*'([^']+\.ts)'/g].flatMap((pattern) =>
    Array.from(source.matchAll(pattern), ([, name]) => join(dirname(path), name)),
  );
  return [...modulesOf(path, source), ...others];
}

/** Returns the packages that a file imports at run time. */
export function packagesOf(source: string): string[] {
  return namesIn(stripTypeScriptTypes(source))
    .filter((name) => !isRelative(name) && !name.startsWith('node:'))
    .map((name) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);
}

/** Returns what a file imports, as it is written, types included. */
export function namesIn(source: string): string[] {
  return ts.preProcessFile(source).importedFiles.map(({ fileName }) => fileName);
}

function isRelative(name: string): boolean {
  return name.startsWith('.');
}
