import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for the suite that calls this; the result names a file in it. */
export function temporaryFolder(): (name: string) => string {
  let folder = '';
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'foyer-snapshot-'));
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });
  return (name) => join(folder, name);
}
