import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A fresh folder for each test of the suite that calls this; the result names a file in it. */
export function temporaryFolder(): (name: string) => string {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'foyer-keys-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  return (name) => join(folder, name);
}
