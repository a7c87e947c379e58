import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Returns the path of a file in a temporary folder. */
export type InFolder = (name: string) => string;

/** Creates a folder for all tests of the calling suite. */
export function folderForAll(): InFolder {
  return folderBetween(before, after);
}

/** Creates a new folder for each test of the calling suite. */
export function folderForEach(): InFolder {
  return folderBetween(beforeEach, afterEach);
}

/** Creates a folder for a function, and removes it afterwards. */
export async function withFolder<T>(work: (inFolder: InFolder) => T | Promise<T>): Promise<T> {
  const folder = makeFolder();
  try {
    return await work((name) => join(folder, name));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function folderBetween(start: (hook: () => void) => void, end: (hook: () => void) => void): InFolder {
  let folder = '';
  start(() => {
    folder = makeFolder();
  });
  end(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return (name) => join(folder, name);
}

function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), 'foyer-test-'));
}
