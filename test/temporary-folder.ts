import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Names a file in a temporary folder. */
export type InFolder = (name: string) => string;

/** A folder for all tests of the suite that calls this. */
export function folderForAll(): InFolder {
  return folderBetween(before, after);
}

/** A fresh folder for each test of the suite that calls this. */
export function folderForEach(): InFolder {
  return folderBetween(beforeEach, afterEach);
}

function folderBetween(start: (hook: () => void) => void, end: (hook: () => void) => void): InFolder {
  let folder = '';
  start(() => {
    folder = mkdtempSync(join(tmpdir(), 'foyer-test-'));
  });
  end(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return (name) => join(folder, name);
}
